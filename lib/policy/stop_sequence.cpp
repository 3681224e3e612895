// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/stop_sequence.hpp"

namespace skep {

stop_sequence::stop_sequence(const stop_options& options, stop_stage first, time_point now)
    : options_(options), began_(now) {
    enter(first, now);
}

void stop_sequence::advance(time_point now) {
    if (stage() != stop_stage::lost) {
        enter(static_cast<stop_stage>(static_cast<int>(stage()) + 1), now);
    }
}

void stop_sequence::enter(stop_stage stage, time_point now) {
    taken_.push_back({stage, now - began_});
    const auto time = time_for(stage);
    deadline_ = {time == duration::max() ? time_point::max() : now + time, time};
}

duration stop_sequence::time_for(stop_stage stage) const noexcept {
    switch (stage) {
    case stop_stage::ask: return options_.shutdown_grace;
    case stop_stage::terminate: return options_.term_grace;
    case stop_stage::kill: return options_.reap_timeout;
    default: return duration::max();
    }
}

} // namespace skep
