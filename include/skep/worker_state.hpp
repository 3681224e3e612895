// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>
#include <skep/exit_status.hpp>
#include <skep/export.hpp>
#include <skep/time.hpp>

#include <boost/json/object.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// The lifecycle of one worker process.
enum class worker_state {
    created,   ///< exists, nothing started
    pending,   ///< held back by restart backoff or the start limit
    starting,  ///< process launched, handshake not complete
    ready,     ///< accepts work
    busy,      ///< every place is taken by a call or kept by a lease
    degraded,  ///< runs, but is kept out of rotation
    suspended, ///< drained and paused on request
    stopping,  ///< in the stop sequence
    stopped,   ///< terminal: exited with 0 on request, ended by SIGINT or SIGTERM, or never had a process
    finished,  ///< terminal: exited with 0 without a request
    failed,    ///< terminal: error, signal, non-zero exit or lost channel
    killed     ///< terminal: had to be forced
};
/// Number of states.
inline constexpr std::size_t worker_state_count = 12;

/// Reason of a change of state, for programs.
enum class transition_reason {
    backoff,             ///< the slot is held back after failures, or by the start limit
    launch,              ///< its process is started
    init_complete,       ///< its handshake and warm-up are complete
    checkout,            ///< its last free place was taken
    checkin,             ///< a place became free
    health_check_failed, ///< it failed a probe, or a call in a way that counts
    health_check_passed, ///< a probe found it well again
    suspend,             ///< it is drained on request
    resume,              ///< the suspension ended
    recycle,             ///< a fresh worker takes its place
    scale_down,          ///< it is no longer needed
    memory_limit,        ///< it holds too much memory
    shutdown,            ///< it was asked to end, without a fault
    exit,                ///< its process ended by itself
    error,               ///< it broke the protocol, lost a channel, or could not be started
    timeout              ///< it did not come up, answer a ping, or end an abandoned call in time
};

/// Health of a worker, independent of its lifecycle state.
enum class worker_health { unknown, healthy, unhealthy };

/// The lifecycle as users of a plain pool see it. Derived, never stored.
enum class lifecycle_view { initializing, ready, busy, degraded, terminating, terminated };

/// The lifecycle as the dispatcher of a crash-barrier pool sees it. Derived, never stored. An available or
/// busy worker serves, or will serve again. A tainted slot is held back after a crash. A recovering slot has
/// a worker that is coming up, or waits for its backoff. A dead worker is in a terminal state.
enum class availability_view { available, busy, tainted, recovering, dead };

/// Return the name of the enumerator, such as "ready".
SKEP_API std::string_view to_string(worker_state state) noexcept;
SKEP_API std::string_view to_string(transition_reason reason) noexcept;
SKEP_API std::string_view to_string(worker_health health) noexcept;
SKEP_API std::string_view to_string(lifecycle_view view) noexcept;
SKEP_API std::string_view to_string(availability_view view) noexcept;

/// Returns true for stopped, finished, failed and killed.
SKEP_API bool is_terminal(worker_state state) noexcept;

/// Returns true for ready, busy and degraded.
SKEP_API bool is_running(worker_state state) noexcept;

/// Returns true if the lifecycle has an edge from `old_state` to `new_state`.
SKEP_API bool is_legal(worker_state old_state, worker_state new_state) noexcept;

/// Return the view of a state.
SKEP_API lifecycle_view to_lifecycle_view(worker_state state) noexcept;
SKEP_API availability_view to_availability_view(worker_state state, bool is_tainted) noexcept;

/// Facts about the end of a worker's process; they decide its terminal state.
struct worker_outcome {
    bool forced = false;         ///< the pool sent SIGKILL
    bool stop_requested = false; ///< the pool asked it to stop
    bool channel_lost = false;   ///< a channel broke, or it broke the protocol, while it should have served
    exit_status status;          ///< end of its process
};

/// Returns the terminal state by intent; the first match wins: killed (the pool sent SIGKILL, and SIGKILL
/// ended the process) > stopped (ended by SIGINT or SIGTERM from any sender, or exited with 0 on request) >
/// failed (error, signal, non-zero exit, lost channel) > finished. After a lost channel, a SIGTERM from the
/// pool does not lead to stopped.
SKEP_API worker_state terminal_state(const worker_outcome& outcome) noexcept;

/// One entry of a worker's history. Successive changes between ready and busy share one entry with the data
/// of the last change and the number of changes.
struct transition {
    worker_state from;                        ///< the old state
    worker_state to;                          ///< the new state
    std::string reason;                       ///< reason, for people
    duration time_in_state;                   ///< time spent in `from`
    std::chrono::system_clock::time_point at; ///< wall clock, for people
    boost::json::object metadata;             ///< details, for programs
    transition_reason code;                   ///< reason, for programs
    std::uint64_t count = 1;                  ///< number of changes in this entry
};

/// The lifecycle of one worker: a pure state machine. It never reads a clock and never throws on an illegal
/// change; time is an argument. Not thread-safe: a pool keeps it on its strand.
class SKEP_API worker_state_machine {
public:
    /// Most entries of the history, not counting those of set_busy(); the oldest are dropped first.
    static constexpr std::size_t history_limit = 32;

    /// Constructs a machine in the state created, at these times.
    worker_state_machine(time_point now, std::chrono::system_clock::time_point wall);

    /// Moves to `new_state` if the lifecycle allows it. Returns errc::illegal_transition and changes nothing
    /// otherwise.
    boost::system::error_code move_to(worker_state new_state, transition_reason code, std::string reason,
                                      time_point now, std::chrono::system_clock::time_point wall,
                                      boost::json::object metadata = {});

    /// Moves from ready to busy or back. Returns false and changes nothing in any other state, or if the
    /// state would stay the same. Such changes come with every call: they allocate nothing and share one
    /// entry of the history.
    bool set_busy(bool is_busy, time_point now) noexcept {
        const auto from = is_busy ? worker_state::ready : worker_state::busy;
        if (state_ != from) {
            return false;
        }
        flips_ = {flips_.count + 1, now - entered_at_};
        state_ = is_busy ? worker_state::busy : worker_state::ready;
        entered_at_ = now;
        return true;
    }

    /// Set health and taint. `wall` becomes updated_at().
    void set_health(worker_health health, std::chrono::system_clock::time_point wall) noexcept;
    void set_tainted(bool is_tainted, std::chrono::system_clock::time_point wall) noexcept;

    /// Return the current state, health and taint.
    worker_state state() const noexcept { return state_; }
    worker_health health() const noexcept { return health_; }
    bool tainted() const noexcept { return tainted_; }

    /// Returns true if the worker is ready, healthy and not tainted. The dispatcher compares load with
    /// capacity.
    bool accepts_work() const noexcept;

    /// Return the views of the current state.
    lifecycle_view lifecycle() const noexcept { return to_lifecycle_view(state_); }
    availability_view availability() const noexcept { return to_availability_view(state_, tainted_); }

    /// Returns the time of entry into the current state.
    time_point entered_at() const noexcept { return entered_at_; }

    /// Returns the time when the worker first became ready; empty before that.
    std::optional<std::chrono::system_clock::time_point> started_at() const noexcept { return started_at_; }

    /// Returns the time of the last change of state, health or taint, except changes of set_busy().
    std::chrono::system_clock::time_point updated_at() const noexcept { return updated_at_; }

    /// Returns updated_at() including changes of set_busy(), as seen at these times.
    std::chrono::system_clock::time_point updated_at(
        time_point now, std::chrono::system_clock::time_point wall) const noexcept;

    /// Returns the history, oldest entry first, without the changes of set_busy() since the last entry: see
    /// flips().
    const std::vector<transition>& history() const noexcept { return history_; }

    /// Returns the changes of set_busy() since the last entry of history() as one entry; empty without such
    /// changes. This entry becomes a part of history() before the next move_to().
    std::optional<transition> flips(time_point now, std::chrono::system_clock::time_point wall) const;

    /// Returns the number of successful calls of move_to(); history() holds the last of them.
    std::uint64_t transitions() const noexcept { return transitions_; }

private:
    /// Changes between ready and busy since the last entry of the history.
    struct flip_tally {
        std::uint64_t count = 0;
        duration time_in_state{}; ///< before the last of them
    };

    worker_state state_ = worker_state::created;
    worker_health health_ = worker_health::unknown;
    bool tainted_ = false;
    time_point entered_at_;
    std::optional<std::chrono::system_clock::time_point> started_at_;
    std::chrono::system_clock::time_point updated_at_;
    std::vector<transition> history_;
    flip_tally flips_;
    std::uint64_t transitions_ = 0;
};

} // namespace skep
