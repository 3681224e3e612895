// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/token.hpp"

#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

namespace skep {

std::string make_token() {
    boost::uuids::random_generator_pure generate;
    return to_string(generate());
}

} // namespace skep
