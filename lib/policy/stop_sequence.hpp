// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/patient_deadline.hpp"
#include <skep/pool_config.hpp>
#include <skep/shutdown_report.hpp>

#include <boost/container/static_vector.hpp>

namespace skep {

/// The way down for one worker: which stage it is at, until when, and which comes next. Draining lies before
/// it.
class stop_sequence {
public:
    stop_sequence(const stop_options& options, stop_stage first, time_point now);

    stop_stage stage() const noexcept { return taken_.back().stage; }

    /// When this stage has had its time.
    patient_deadline& deadline() noexcept { return deadline_; }
    const patient_deadline& deadline() const noexcept { return deadline_; }

    /// This stage was in vain: moves to the next. Stays at `lost`.
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
