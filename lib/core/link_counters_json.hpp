// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/link_counters.hpp>

#include <boost/json/object.hpp>

namespace skep {

inline boost::json::object to_json(const link_counters& links) {
    return {{"resumes", links.resumes},
            {"gaps", links.gaps},
            {"duplicates", links.duplicates},
            {"resent_bytes", links.resent_bytes}};
}

} // namespace skep
