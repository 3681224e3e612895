// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// Identifies one incarnation of one worker slot of a pool. An id is never reused: the process that replaces
/// a lost worker has the same slot and the next generation.
struct worker_id {
    std::string pool;             ///< the pool's name
    std::uint32_t slot = 0;       ///< 0 .. workers - 1
    std::uint64_t generation = 0; ///< 1 for the first process of a slot

    friend bool operator==(const worker_id&, const worker_id&) = default;
    friend auto operator<=>(const worker_id&, const worker_id&) = default;
};

/// Returns "pool/slot#generation", the form in logs, errors and the worker's environment.
SKEP_API std::string to_string(const worker_id& id);

/// Parses the output of to_string(). Returns an empty optional for any other text.
SKEP_API std::optional<worker_id> to_worker_id(std::string_view text);

} // namespace skep
