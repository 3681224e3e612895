// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/exit_status.hpp>
#include <skep/export.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>
#include <skep/worker_state.hpp>

#include <cstddef>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace skep {

/// The stages of the stop sequence, in order.
enum class stop_stage {
    none,      ///< ended by itself
    ask,       ///< `shutdown` frame
    terminate, ///< SIGTERM to its process group
    kill,      ///< SIGKILL to it, and to what is left of its process group 200 ms after its end
    lost       ///< not even that ended it in time (the kernel holds it); it is collected whenever it does end
};

/// Its name here, such as "terminate".
SKEP_API std::string_view to_string(stop_stage stage) noexcept;

/// One stage, and how long after the stop began it was reached.
struct stage_reached {
    stop_stage stage; ///< which one
    duration after;   ///< since the stop began
};

/// How one worker ended.
struct worker_exit {
    worker_id id;                               ///< whose end it is
    pid_t pid = 0;                              ///< of its process; 0 if it never ran
    worker_state state = worker_state::stopped; ///< its terminal state
    exit_status status;                         ///< how its process ended
    std::vector<stage_reached> stages;          ///< every stage it went through, in order

    /// The last stage it needed.
    stop_stage stage() const noexcept { return stages.empty() ? stop_stage::none : stages.back().stage; }
};

/// What shutdown() did.
struct SKEP_API shutdown_report {
    std::vector<worker_exit> workers; ///< every worker alive when shutdown began
    std::size_t calls_drained = 0;    ///< calls that still completed during the drain
    std::size_t calls_aborted = 0;    ///< calls that ended with errc::shutting_down
    duration took{};                  ///< from the call of shutdown() on

    /// True if it is known that no worker is left: none was lost, and no part of the host has collected one of them
    /// before the pool could (exit_status::was_taken; see likely_cause() for the remedy).
    bool clean() const noexcept;
};

} // namespace skep
