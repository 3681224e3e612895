// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/exit_status.hpp>
#include <skep/export.hpp>
#include <skep/time.hpp>
#include <skep/unanswered_calls.hpp>
#include <skep/worker_id.hpp>
#include <skep/worker_state.hpp>

#include <cstddef>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace skep {

/// Stages of the stop sequence, in order.
enum class stop_stage {
    none,      ///< the worker ended by itself
    ask,       ///< `shutdown` frame
    terminate, ///< SIGTERM to its process group
    kill,      ///< SIGKILL to the worker; 200 ms after its end, SIGKILL to the rest of its process group
    lost       ///< SIGKILL did not end the worker in time (the kernel holds it); it is reaped when it ends
};

/// Returns the name of the enumerator, such as "terminate".
SKEP_API std::string_view to_string(stop_stage stage) noexcept;

/// One stage, and its time since the begin of the stop.
struct stage_reached {
    stop_stage stage; ///< the stage
    duration after;   ///< time since the stop began
};

/// The end of one worker.
struct worker_exit {
    worker_id id;                               ///< the worker
    pid_t pid = 0;                              ///< pid of its process; 0 if the process never ran
    worker_state state = worker_state::stopped; ///< its terminal state
    exit_status status;                         ///< how its process ended
    std::vector<stage_reached> stages;          ///< every stage that was reached, in order
    unanswered_calls unanswered;                ///< the calls that it had at its end

    /// Returns the last stage that was needed.
    stop_stage stage() const noexcept { return stages.empty() ? stop_stage::none : stages.back().stage; }
};

/// Result of shutdown().
struct SKEP_API shutdown_report {
    std::vector<worker_exit> workers; ///< every worker alive when shutdown began
    std::size_t calls_drained = 0;    ///< calls that still completed during the drain
    std::size_t calls_aborted = 0;    ///< calls that ended with errc::shutting_down
    duration took{};                  ///< from the call of shutdown() on

    /// Returns true if certainly no worker is left: no worker was lost, and the pool has learned how each has
    /// ended (otherwise exit_status::was_taken(); likely_cause() names the remedy).
    bool clean() const noexcept;
};

} // namespace skep
