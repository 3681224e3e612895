// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/stop_ladder.hpp"

namespace skep {

stop_ladder::stop_ladder(const stop_options& options, stop_rung first, time_point now)
    : options_(options), began_(now) {
    enter(first, now);
}

void stop_ladder::descend(time_point now) {
    if (rung() != stop_rung::lost) {
        enter(static_cast<stop_rung>(static_cast<int>(rung()) + 1), now);
    }
}

void stop_ladder::enter(stop_rung rung, time_point now) {
    taken_.push_back({rung, now - began_});
    const auto time = time_for(rung);
    deadline_ = {time == duration::max() ? time_point::max() : now + time, time};
}

duration stop_ladder::time_for(stop_rung rung) const noexcept {
    switch (rung) {
    case stop_rung::ask: return options_.ask;
    case stop_rung::terminate: return options_.grace;
    case stop_rung::kill: return options_.reap;
    default: return duration::max();
    }
}

} // namespace skep
