// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/worker_drain.hpp"

#include "worker/worker.hpp"

#include <algorithm>

namespace skep {

void worker_drain::end_if_drained() {
    const auto& calls = core_.self.calls();
    if (!core_.life.is_draining() || !calls.is_drained() || !core_.life.was_up()) {
        return;
    }
    if (kind_of(core_.life.departure()->cause) != departure_kind::plan) {
        core_.self.stop(stop_stage::terminate);
    } else if (calls.is_deserted() || patience_for_first() == duration::zero()) {
        core_.self.stop(stop_stage::ask);
    } else if (!is_lingering_) {
        service_.spawn(core_.self.shared_from_this(), linger());
    }
}

void worker_drain::show_suspended() {
    const bool is_drained = core_.self.calls().load() == (core_.self.health().is_probing() ? 1u : 0u);
    if (is_drained && core_.life.readiness().has(obstacle::suspended) &&
        core_.life.drained(core_.context.present())) {
        core_.announce(condition_changed{condition_changed::change::suspended});
    }
}

void worker_drain::advance() {
    show_suspended();
    end_if_drained();
    auto& health = core_.self.health();
    if ((core_.life.readiness().has(obstacle::doubted) || core_.life.readiness().has(obstacle::due)) &&
        health.can_probe_now()) {
        health.wake();
    }
}

/// Returns the time that may pass until the worker ends the calls in front of awaited calls: abandoned calls,
/// or a probe.
duration worker_drain::patience_for_first() const noexcept {
    const auto& config = core_.config;
    return core_.self.calls().is_at_private() ? std::max(config.cancel_grace, config.health_check.timeout)
                                              : config.cancel_grace;
}

/// Waits while awaited calls are queued behind a probe or abandoned calls. The worker may have begun an
/// awaited call, with an answer in flight. Without an answer in time, the awaited calls have not begun, and
/// return to the pool.
asio::awaitable<void> worker_drain::linger() {
    is_lingering_ = true;
    latch never(core_.context.executor);
    const auto& calls = core_.self.calls();
    bool has_answered = true;
    while (has_answered && calls.is_drained() && !calls.is_deserted()) {
        const auto awaited = calls.size();
        const auto limit = patience_for_first();
        patient_deadline grace(core_.context.now() + limit, limit);
        co_await never.wait_until(grace);
        has_answered = calls.size() < awaited;
    }
    is_lingering_ = false;
    if (calls.is_drained()) {
        core_.self.stop(stop_stage::ask);
    }
}

} // namespace skep
