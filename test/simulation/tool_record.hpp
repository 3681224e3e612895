// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace skep::simulation {

class sim_worker;
struct call_record;

/// What a tool does.
enum class tool_deed { answers, fails, pauses, is_stubborn, calls, is_unknown };

/// Something that a worker has asked of the host, and everything that is known of it.
struct tool_record {
    std::size_t key = 0;
    sim_worker* by = nullptr;
    call_record* call = nullptr; ///< that the worker is at
    std::size_t visit_index = 0;
    std::uint64_t number = 0; ///< on its connection
    tool_deed deed = tool_deed::answers;
    std::optional<time_point> delivered; ///< the pool has read all of it
    bool begun = false;
    std::optional<time_point> ended;
    bool failed = false;
    bool answered = false; ///< that has left the pool
};

} // namespace skep::simulation
