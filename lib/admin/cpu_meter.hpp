// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_status.hpp>
#include <skep/time.hpp>

#include <map>
#include <optional>
#include <sys/types.h>

namespace skep {

/// Measures the processors that the workers of a pool use.
class cpu_meter {
public:
    /// Returns the processor time used by a process; std::nullopt if unknown.
    using reader = std::optional<duration> (*)(pid_t pid);

    explicit cpu_meter(reader read) : read_(read) {}

    /// Returns the average number of processors used since the previous call, by the workers seen at both
    /// calls; std::nullopt if there is none. Skips workers whose process the pool cannot measure.
    std::optional<double> used(const pool_status& status, time_point now);

private:
    reader read_;
    std::map<worker_id, duration> times_; ///< at the previous call
    time_point read_at_{};
};

} // namespace skep
