// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/worker_id.hpp>

namespace skep {

std::string to_string(const worker_id& id) {
    return id.pool + '/' + std::to_string(id.slot) + '#' + std::to_string(id.generation);
}

} // namespace skep
