// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/worker_core.hpp"

#include "worker/worker.hpp"

#include <algorithm>
#include <utility>

namespace skep {

worker_core::worker_core(const worker_surroundings& pool, worker& subject, worker_id name,
                         std::optional<worker_state_machine> initial_state)
    : surroundings(pool),
      context(pool.context),
      config(pool.config),
      self(subject),
      id(std::move(name)),
      life(pool.config, pool.context.present(), std::move(initial_state)),
      transitions_(life.machine().transitions() - 1) {} // the start is announced, too

void worker_core::announce(decltype(worker_event::fact) fact) {
    announce_transitions();
    count_places();
    surroundings.events.append({self.shared_from_this(), std::move(fact)});
}

void worker_core::announce_departure() {
    if (!std::exchange(has_left_, true)) {
        announce(left_service{});
    }
}

void worker_core::announce_transitions() noexcept {
    const auto& machine = life.machine();
    const auto& history = machine.history();
    auto fresh = std::min<std::uint64_t>(machine.transitions() - transitions_, history.size());
    transitions_ = machine.transitions();
    for (; fresh > 0; --fresh) {
        const auto& passed = history[history.size() - fresh];
        context.publish<events::worker_transition>([&] { return event_of(passed, id); });
    }
}

void worker_core::count_places() noexcept {
    const auto places = life.is_serving() ? self.calls().capacity() : 0;
    surroundings.places += places - counted_places_;
    counted_places_ = places;
}

events::worker_transition event_of(const transition& last_transition, const worker_id& id) {
    return {id,
            last_transition.from,
            last_transition.to,
            last_transition.reason,
            last_transition.time_in_state,
            last_transition.code,
            last_transition.metadata};
}

} // namespace skep
