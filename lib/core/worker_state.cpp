// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/worker_state.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <new>

namespace skep {

namespace {

using edge_set = std::uint16_t;

constexpr std::size_t index_of(worker_state state) {
    return static_cast<std::size_t>(state);
}

constexpr edge_set to_any_of(std::initializer_list<worker_state> targets) {
    edge_set edges = 0;
    for (const auto target : targets) {
        edges |= static_cast<edge_set>(1u << index_of(target));
    }
    return edges;
}

constexpr std::array<edge_set, worker_state_count> make_edges() {
    using enum worker_state;
    std::array<edge_set, worker_state_count> edges{};
    edges[index_of(created)] = to_any_of({pending, starting});
    edges[index_of(pending)] = to_any_of({starting, stopped});
    edges[index_of(starting)] = to_any_of({ready, stopping, stopped, failed});
    edges[index_of(ready)] = to_any_of({busy, degraded, suspended, stopping, stopped, finished, failed});
    edges[index_of(busy)] = to_any_of({ready, degraded, suspended, stopping, stopped, finished, failed});
    edges[index_of(degraded)] = to_any_of({ready, busy, suspended, stopping, stopped, finished, failed});
    edges[index_of(suspended)] = to_any_of({ready, busy, degraded, stopping, stopped, finished, failed});
    edges[index_of(stopping)] = to_any_of({stopped, failed, killed});
    return edges;
}

constexpr auto edges = make_edges();

bool is_flip(const transition& entry) {
    return entry.code == transition_reason::checkout || entry.code == transition_reason::checkin;
}

/// Appends an entry. An entry of set_busy() is removed together with the entry before it, and displaces no
/// other entry.
void remember(std::vector<transition>& history, transition entry) {
    constexpr auto limit = worker_state_machine::history_limit;
    history.push_back(std::move(entry));
    const auto flips = static_cast<std::size_t>(std::count_if(history.begin(), history.end(), is_flip));
    if (history.size() - flips > limit || history.size() > 2 * limit) {
        history.erase(history.begin(), std::find_if_not(history.begin() + 1, history.end(), is_flip));
    }
}

} // namespace

std::string_view to_string(worker_state state) noexcept {
    static constexpr std::array<std::string_view, worker_state_count> names{
        "created",   "pending",  "starting", "ready",    "busy",   "degraded",
        "suspended", "stopping", "stopped",  "finished", "failed", "killed"};
    return names.at(index_of(state));
}

std::string_view to_string(transition_reason reason) noexcept {
    static constexpr std::array<std::string_view, 16> names{"backoff",
                                                            "launch",
                                                            "init_complete",
                                                            "checkout",
                                                            "checkin",
                                                            "health_check_failed",
                                                            "health_check_passed",
                                                            "suspend",
                                                            "resume",
                                                            "recycle",
                                                            "scale_down",
                                                            "memory_limit",
                                                            "shutdown",
                                                            "exit",
                                                            "error",
                                                            "timeout"};
    return names.at(static_cast<std::size_t>(reason));
}

std::string_view to_string(worker_health health) noexcept {
    static constexpr std::array<std::string_view, 3> names{"unknown", "healthy", "unhealthy"};
    return names.at(static_cast<std::size_t>(health));
}

std::string_view to_string(lifecycle_view view) noexcept {
    static constexpr std::array<std::string_view, 6> names{"initializing", "ready",       "busy",
                                                           "degraded",     "terminating", "terminated"};
    return names.at(static_cast<std::size_t>(view));
}

std::string_view to_string(availability_view view) noexcept {
    static constexpr std::array<std::string_view, 5> names{"available", "busy", "tainted", "recovering",
                                                           "dead"};
    return names.at(static_cast<std::size_t>(view));
}

bool is_terminal(worker_state state) noexcept {
    return state >= worker_state::stopped;
}

bool is_running(worker_state state) noexcept {
    return state == worker_state::ready || state == worker_state::busy || state == worker_state::degraded;
}

bool is_legal(worker_state old_state, worker_state new_state) noexcept {
    return (edges.at(index_of(old_state)) >> index_of(new_state) & 1u) != 0;
}

lifecycle_view to_lifecycle_view(worker_state state) noexcept {
    switch (state) {
    case worker_state::created:
    case worker_state::pending:
    case worker_state::starting: return lifecycle_view::initializing;
    case worker_state::ready: return lifecycle_view::ready;
    case worker_state::busy: return lifecycle_view::busy;
    case worker_state::degraded:
    case worker_state::suspended: return lifecycle_view::degraded;
    case worker_state::stopping: return lifecycle_view::terminating;
    default: return lifecycle_view::terminated;
    }
}

availability_view to_availability_view(worker_state state, bool is_tainted) noexcept {
    if (is_terminal(state)) {
        return availability_view::dead;
    }
    if (is_tainted) {
        return availability_view::tainted;
    }
    switch (to_lifecycle_view(state)) {
    case lifecycle_view::initializing: return availability_view::recovering;
    case lifecycle_view::ready: return availability_view::available;
    default: return availability_view::busy;
    }
}

worker_state terminal_state(const worker_outcome& outcome) noexcept {
    const auto& status = outcome.status;
    const bool interrupted = status.signal() == SIGINT || status.signal() == SIGTERM;
    if (outcome.forced && (status.signal() == SIGKILL || !status.known())) {
        return worker_state::killed;
    }
    // A SIGTERM from the pool to a worker with a lost channel is no interruption from outside.
    if ((interrupted && !outcome.channel_lost) || (outcome.stop_requested && status.success())) {
        return worker_state::stopped;
    }
    if (outcome.channel_lost || !status.success()) {
        return worker_state::failed;
    }
    return worker_state::finished;
}

worker_state_machine::worker_state_machine(time_point now, std::chrono::system_clock::time_point wall)
    : entered_at_(now), updated_at_(wall) {}

boost::system::error_code worker_state_machine::move_to(worker_state new_state, transition_reason code,
                                                        std::string reason, time_point now,
                                                        std::chrono::system_clock::time_point wall,
                                                        boost::json::object metadata) {
    if (!is_legal(state_, new_state)) {
        return make_error_code(errc::illegal_transition);
    }
    try {
        if (auto entry = flips(now, wall)) {
            remember(history_, std::move(*entry));
        }
        remember(history_,
                 {state_, new_state, std::move(reason), now - entered_at_, wall, std::move(metadata), code});
        ++transitions_;
    } catch (const std::bad_alloc&) {} // the state changes without a history entry
    flips_ = {};
    if (new_state == worker_state::ready && !started_at_) {
        started_at_ = wall;
    }
    state_ = new_state;
    entered_at_ = now;
    updated_at_ = wall;
    return {};
}

std::optional<transition> worker_state_machine::flips(time_point now,
                                                      std::chrono::system_clock::time_point wall) const {
    if (flips_.count == 0) {
        return std::nullopt;
    }
    const bool is_busy = state_ == worker_state::busy;
    return transition{is_busy ? worker_state::ready : worker_state::busy,
                      state_,
                      is_busy ? "its last free place was taken" : "a place became free",
                      flips_.time_in_state,
                      wall - (now - entered_at_),
                      {},
                      is_busy ? transition_reason::checkout : transition_reason::checkin,
                      flips_.count};
}

std::chrono::system_clock::time_point worker_state_machine::updated_at(
    time_point now, std::chrono::system_clock::time_point wall) const noexcept {
    return flips_.count == 0 ? updated_at_ : std::max(updated_at_, wall - (now - entered_at_));
}

void worker_state_machine::set_health(worker_health health,
                                      std::chrono::system_clock::time_point wall) noexcept {
    health_ = health;
    updated_at_ = wall;
}

void worker_state_machine::set_tainted(bool is_tainted, std::chrono::system_clock::time_point wall) noexcept {
    tainted_ = is_tainted;
    updated_at_ = wall;
}

bool worker_state_machine::accepts_work() const noexcept {
    return state_ == worker_state::ready && health_ == worker_health::healthy && !tainted_;
}

} // namespace skep
