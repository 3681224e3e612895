// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/patient_deadline.hpp"
#include <skep/pool_config.hpp>
#include <skep/shutdown_report.hpp>

#include <boost/container/static_vector.hpp>

namespace skep {

/// The stop stages of one worker: the current stage, its deadline and the next stage. Draining comes before
/// the sequence.
class stop_sequence {
public:
    stop_sequence(const stop_options& options, stop_stage first, time_point now);

    stop_stage stage() const noexcept { return taken_.back().stage; }

    /// Returns the deadline of the current stage.
    patient_deadline& deadline() noexcept { return deadline_; }
    const patient_deadline& deadline() const noexcept { return deadline_; }

    /// Moves to the next stage, after the current stage had no effect. Stays at `lost`.
    void advance(time_point now);

    const auto& taken() const noexcept { return taken_; }

private:
    void enter(stop_stage stage, time_point now);
    duration time_for(stop_stage stage) const noexcept;

    stop_options options_;
    time_point began_;
    patient_deadline deadline_;
    boost::container::static_vector<stage_reached, 4> taken_;
};

} // namespace skep
