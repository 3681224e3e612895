// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/patient_deadline.hpp"
#include <skep/pool_config.hpp>
#include <skep/shutdown_report.hpp>

#include <vector>

namespace skep {

/// The way down for one worker: which rung it is on, until when, and which comes next. Draining lies before
/// it.
class stop_ladder {
public:
    stop_ladder(const stop_options& options, stop_rung first, time_point now);

    stop_rung rung() const noexcept { return taken_.back().rung; }

    /// When this rung has had its time.
    patient_deadline& deadline() noexcept { return deadline_; }
    const patient_deadline& deadline() const noexcept { return deadline_; }

    /// This rung was in vain: moves to the next. Stays on `lost`.
    void descend(time_point now);

    const std::vector<rung_reached>& taken() const noexcept { return taken_; }

private:
    void enter(stop_rung rung, time_point now);
    duration time_for(stop_rung rung) const noexcept;

    stop_options options_;
    time_point began_;
    patient_deadline deadline_;
    std::vector<rung_reached> taken_;
};

} // namespace skep
