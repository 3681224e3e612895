// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The supervisor's report about its workers.

#include "pool/supply/supervisor.hpp"

#include <algorithm>

namespace skep {

namespace {

// Limits for one worker's status.
constexpr std::size_t shown_calls = 8;
constexpr std::size_t shown_transitions = 8;

void describe_life(worker_status& status, const worker_state_machine& life, moment now) {
    status.state = life.state();
    status.health = life.health();
    status.started_at = life.started_at();
    status.updated_at = life.updated_at(now.now, now.wall);
    status.availability = life.availability();
    const auto& history = life.history();
    const auto latest = life.flips(now.now, now.wall);
    const auto shown = std::min(history.size(), shown_transitions - (latest ? 1u : 0u));
    status.transitions.assign(history.end() - static_cast<std::ptrdiff_t>(shown), history.end());
    if (latest) {
        status.transitions.push_back(*latest);
    }
    if (!status.transitions.empty()) {
        status.last_transition = status.transitions.back();
    }
}

worker_status status_of(const worker& subject, moment now) {
    const auto& life = subject.life();
    const auto& calls = subject.calls();
    worker_status result;
    result.id = subject.id();
    result.pid = life.process().pid;
    result.node = subject.node();
    describe_life(result, life.machine(), now);
    result.retiring = life.departure().has_value();
    if (life.is_over()) {
        result.availability = availability_view::dead;
    }
    result.load = calls.load();
    result.leased = calls.reserved();
    result.sessions = subject.served()->sessions;
    result.strict_sessions = subject.served()->bound;
    result.capacity = calls.capacity();
    result.completed = calls.completed();
    result.errors = calls.errors();
    result.uptime = life.uptime(now.now);
    result.resident_bytes = subject.recycling().bytes();
    calls.for_each(shown_calls, [&](const call& each) {
        if (!each.is_private) {
            result.calls.push_back({each.req.command(), calls.correlation_id_of(each), each.req.session(),
                                    now.now - each.dispatched});
        }
    });
    result.last_probe = subject.health().last();
    result.loop = subject.loop();
    if (calls.memory().is_open()) {
        result.shared_bytes = calls.memory().bytes() + calls.received_memory().results().bytes();
    }
    if (const auto due = subject.recycling().due(); due != time_point::max()) {
        result.recycle_in = std::max(duration::zero(), duration(due - now.now));
    }
    return result;
}

} // namespace

void supervisor::report(pool_status& status, time_point now) {
    const moment at{now, context_.wall_now()};
    status.desired = roster_.desired();
    status.live = roster_.ready();
    status.starting = roster_.starting();
    status.retiring = roster_.leaving().size();
    status.breaker = intensity_.state(now);
    status.restarts_left = intensity_.left(now);
    if (has_failure()) {
        status.last_failure = last_failure_.info();
    }
    for (std::size_t index = 0; index < roster_.slots().size(); ++index) {
        const auto& slot = roster_[index];
        if (slot.current) {
            status.workers.push_back(status_of(*slot.current, at));
            status.workers.back().waits_to_leave = replacement_.why_it_waits(index);
        } else if (slot.wanted) {
            status.workers.push_back(status_of_vacant(index, now));
        } else {
            continue;
        }
        status.workers.back().last_failure = slot.last_failure;
    }
    for (const auto& slot : roster_.slots()) {
        if (slot.successor) {
            status.workers.push_back(status_of(*slot.successor, at));
        }
    }
    for (const auto& each : roster_.leaving()) {
        status.workers.push_back(status_of(*each, at));
    }
    auto& counters = status.counters;
    counters.workers_started = counters_.workers_started;
    counters.workers_lost = counters_.workers_lost;
    counters.workers_replaced = counters_.workers_replaced;
    counters.workers_recycled = counters_.workers_recycled;
    counters.workers_removed = counters_.workers_removed;
    counters.unhealthy_workers_terminated = counters_.unhealthy_workers_terminated;
    counters.crashes = counters_.crashes;
    counters.start_failures = counters_.start_failures;
    counters.missed_pings = counters_.missed_pings;
    counters.output_lines_dropped = counters_.output_lines_dropped;
    counters.attachments_lent = counters_.attachments_lent;
    counters.attachments_passed = counters_.attachments_passed;
    counters.attachments_received = counters_.attachments_received;
    counters.shared_fallbacks = counters_.shared_fallbacks;
    counters.shared_results = counters_.shared_results;
    roster_.for_each([&counters](const worker& each) {
        const auto& memory = each.calls().memory();
        counters.output_lines_dropped += each.output_lines_dropped();
        counters.attachments_lent += memory.lent();
        counters.attachments_passed += memory.passed();
        counters.attachments_received += each.calls().received_memory().taken();
        counters.shared_fallbacks += memory.fallbacks();
        counters.shared_results += each.calls().received_memory().results().opened();
    });
}

worker_status supervisor::status_of_vacant(std::size_t index, time_point now) {
    const auto& slot = roster_[index];
    const auto start = slot.plan.earliest_start(roster_.ready() + roster_.starting());
    worker_status entry;
    entry.id = roster_.next_id(index);
    describe_life(entry, roster_.vacancy(index), context_.present());
    entry.availability = to_availability_view(entry.state, slot.plan.is_tainted(now));
    const bool waits = !slot.plan.is_in_launch() && start > now;
    if (waits && !slot.plan.awaits_verdict()) {
        entry.held_for = start - now;
    }
    return entry;
}

} // namespace skep
