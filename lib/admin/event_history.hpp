// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "admin/fault_list.hpp"
#include <skep/events.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>

namespace skep {

/// A list of types.
template <class... Types>
struct type_list {};

/// Keeps the last events and faults of pools for a page that is opened later, in bounded memory.
class event_history {
public:
    static constexpr std::size_t most_events = 500;
    /// Most kinds of faults: half of them of calls, half of workers and pools.
    static constexpr std::size_t most_faults = 200;

    /// The types of events that are kept. A pool publishes them rarely, or for failed calls only: a
    /// subscription to them costs a successful call nothing.
    using types = type_list<
        events::worker_spawned, events::worker_ready, events::worker_terminated, events::worker_health_check,
        events::worker_recycled, events::worker_tainted, events::unhealthy_worker_terminated,
        events::protocol_error, events::heartbeat_missed, events::heartbeat_failed, events::pool_init_started,
        events::pool_init_completed, events::pool_scale_up, events::pool_scale_down, events::pool_saturated,
        events::pool_unavailable, events::pool_available, events::breaker_changed, events::request_failed,
        events::request_retried, events::session_quota_warning, events::lease_leaked, events::node_joined,
        events::node_left, events::node_ejected, events::node_readmitted, events::link_opened,
        events::link_closed, events::link_lost, events::bus_up, events::bus_down, events::template_started,
        events::template_ended, events::template_refused>;

    /// Returns true if the event is of one of these types.
    static bool keeps(const event& subject) noexcept;

    /// Adds an event. Returns the event as JSON, with "at_ms" and with "serial", the number of the event.
    boost::json::object record(const event& new_event, std::int64_t at_ms);

    /// Returns {"events": [event, ...], "faults": [kind, ...]}, oldest first; see fault_list::all().
    boost::json::object all() const;

    /// Returns the faults that have occurred since the previous call.
    boost::json::array take_changed_faults();

private:
    std::deque<boost::json::object> events_;
    fault_list faults_of_calls_{most_faults / 2};
    fault_list other_faults_{most_faults / 2};
    std::uint64_t last_serial_ = 0;
};

} // namespace skep
