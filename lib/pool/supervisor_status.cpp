// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a supervisor tells about its workers.

#include "core/clock.hpp"
#include "pool/supervisor.hpp"

#include <algorithm>

namespace skep {

void supervisor::report(pool_status& status, time_point now) {
    status.suspended = suspended_;
    status.desired = desired_;
    status.live = ready_;
    status.starting = starting_;
    status.retiring = leaving_.size();
    status.breaker = intensity_.state(now);
    status.restarts_left = intensity_.left(now);
    if (last_failure_.worker) {
        status.last_failure = last_failure_;
    }
    for (std::size_t index = 0; index < slots_.size(); ++index) {
        const auto& slot = slots_[index];
        if (slot.current) {
            status.workers.push_back(slot.current->status(now));
        } else if (slot.wanted) {
            status.workers.push_back(status_of_vacant(index, now));
        } else {
            continue;
        }
        status.workers.back().last_failure = slot.last_failure;
    }
    for (const auto& slot : slots_) {
        if (slot.successor) {
            status.workers.push_back(slot.successor->status(now));
        }
    }
    for (const auto& each : leaving_) {
        status.workers.push_back(each->status(now));
    }
    count(status.counters);
}

std::size_t supervisor::out_of_rotation() const noexcept {
    return static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), [](const auto& slot) {
        const bool serves = slot.current && slot.current->life().was_up() &&
                            !slot.current->life().is(obstacle::suspended) &&
                            !slot.current->life().awaits_probe();
        return slot.wanted && !serves;
    }));
}

bool supervisor::will_serve() const noexcept {
    return std::any_of(slots_.begin(), slots_.end(), [this](const auto& slot) {
        const bool stays = slot.current && !slot.current->life().is(obstacle::suspended);
        const bool comes = slot.successor && slot.restart_requested;
        return (stays && (slot.current->life().was_up() || !suspended_)) || (comes && !suspended_);
    });
}

std::size_t supervisor::capacity() const noexcept {
    for (const auto& slot : slots_) {
        if (slot.current && slot.current->life().was_up()) {
            return slot.current->capacity();
        }
    }
    return config_.capacity;
}

worker_status supervisor::status_of_vacant(std::size_t index, time_point now) const {
    const auto& slot = slots_[index];
    worker_status entry;
    entry.id = {config_.name, static_cast<std::uint32_t>(index), slot.generation + 1};
    const bool waits = !slot.to_launch && due_at(slot) > now;
    entry.state = waits || slot.failure_streak > 0 ? worker_state::pending : worker_state::created;
    if (waits && !slot.awaits_verdict) {
        entry.held_for = due_at(slot) - now;
    }
    return entry;
}

void supervisor::count(pool_counters& counters) const {
    counters.workers_started = past_.workers_started;
    counters.workers_lost = past_.workers_lost;
    counters.workers_replaced = past_.workers_replaced;
    counters.workers_recycled = past_.workers_recycled;
    counters.workers_removed = past_.workers_removed;
    counters.crashes = past_.crashes;
    counters.start_failures = past_.start_failures;
    counters.missed_pings = past_.missed_pings;
    counters.output_lines_dropped = past_.output_lines_dropped;
    for (const auto& each : everyone()) {
        counters.output_lines_dropped += each->output_lines_dropped();
    }
}

} // namespace skep
