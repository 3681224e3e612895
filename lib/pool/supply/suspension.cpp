// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/supply/suspension.hpp"

#include <algorithm>

namespace skep {

asio::awaitable<void> suspension::suspend(worker_id id) {
    auto* const found = roster_.find(id);
    if (found == nullptr || !found->life().was_up()) {
        throw roster_.no_such_worker(id);
    }
    const auto suspended = found->shared_from_this();
    suspended->suspend();
    while (suspended->life().state() != worker_state::suspended) {
        if (roster_.find(id) == nullptr) {
            throw roster_.no_such_worker(id);
        }
        if (!suspended->life().readiness().has(obstacle::suspended)) {
            throw resumed();
        }
        co_await changed_.wait();
    }
}

asio::awaitable<void> suspension::suspend_all() {
    is_on_ = true;
    const auto all = roster_.serving();
    for (const auto& each : all) {
        roster_.find(each)->suspend();
    }
    const auto is_drained = [this](const worker_id& each) { return this->is_drained(each); };
    while (!std::all_of(all.begin(), all.end(), is_drained)) {
        co_await changed_.wait();
        if (!is_on_) {
            throw resumed();
        }
    }
}

/// Returns true if the worker is suspended, has left, or was resumed by itself.
bool suspension::is_drained(const worker_id& id) const noexcept {
    const auto* const found = roster_.find(id);
    return found == nullptr || found->life().state() == worker_state::suspended ||
           !found->life().readiness().has(obstacle::suspended);
}

asio::awaitable<void> suspension::resume(worker_id id) {
    auto* const found = roster_.find(id);
    if (found == nullptr) {
        throw roster_.no_such_worker(id);
    }
    found->resume();
    changed_.notify_all();
    co_return;
}

asio::awaitable<void> suspension::resume_all() {
    is_on_ = false;
    for (const auto& each : roster_.serving()) {
        roster_.find(each)->resume();
    }
    roster_.work().open();
    changed_.notify_all();
    co_return;
}

bool suspension::will_serve() const noexcept {
    const auto& slots = roster_.slots();
    return std::any_of(slots.begin(), slots.end(), [this](const slot& each) {
        const bool stays = each.current && !each.current->life().readiness().has(obstacle::suspended);
        const bool comes = each.successor && !each.restarts.empty();
        return (stays && (each.serves() || !is_on_)) || (comes && !is_on_);
    });
}

error suspension::resumed() const {
    error_info info;
    info.pool = config_.name;
    info.detail = "resumed before it was drained";
    return error(errc::cancelled, std::move(info));
}

} // namespace skep
