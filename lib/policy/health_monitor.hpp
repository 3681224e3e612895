// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/self_healing.hpp>
#include <skep/time.hpp>

#include <algorithm>
#include <cstddef>

namespace skep {

/// The consequence of a sign of health or sickness.
enum class health_verdict { none, degrade, restore, remove };

/// Returns true if a routine probe may begin now. The first probe always may. Further probes need another
/// worker with room, and at most a quarter of the workers run probes. So calls find another worker wherever
/// possible.
constexpr bool may_begin_probe(std::size_t workers, std::size_t at_probe, bool another_has_room) noexcept {
    return at_probe == 0 || (another_has_room && at_probe < workers / 4);
}

/// Judges one worker by its probes and its calls. A failure degrades the worker, a passed probe restores the
/// worker, and a number of failures in a row removes the worker. Schedules the next probe. A result postpones
/// the probe if the probe would only show that the worker answers; an error never postpones the probe. A tick
/// that is late because the host stood still finds one probe due.
class health_monitor {
public:
    /// `has_own_check`: a probe checks more than whether the worker answers.
    health_monitor(const health_check_options& options, bool has_own_check, time_point now) noexcept;

    /// The worker passed a probe or answered a call with a result. Both reset the failures. Only a passed
    /// probe restores a degraded worker: an answer that was in flight when the worker failed proves nothing.
    health_verdict passed_probe(time_point now) noexcept;
    void answered(time_point now) noexcept;

    /// The worker failed a probe, or a call in a way that counts.
    health_verdict failed(time_point now) noexcept;

    /// Moves the next probe forward to `moment`, unless the probe is due earlier.
    void probe_at(time_point moment) noexcept { next_probe_ = std::min(next_probe_, moment); }

    bool is_degraded() const noexcept { return degraded_; }
    int failures() const noexcept { return failures_; }
    time_point next_probe() const noexcept { return next_probe_; }

private:
    duration interval_;
    duration retry_interval_;
    int limit_;
    bool has_own_check_;
    time_point next_probe_;
    int failures_ = 0;
    bool degraded_ = false;
};

} // namespace skep
