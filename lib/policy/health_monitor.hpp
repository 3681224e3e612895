// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/self_healing.hpp>
#include <skep/time.hpp>

#include <algorithm>
#include <cstddef>

namespace skep {

/// What follows from a sign of health or sickness.
enum class health_verdict { none, degrade, restore, remove };

/// Whether a routine probe may begin now, so that calls find another worker as long as one could be had: probes of a
/// pool take turns, and no more than a quarter of its workers is at one.
constexpr bool may_begin_probe(std::size_t workers, std::size_t at_probe, bool another_has_room) noexcept {
    return at_probe == 0 || (another_has_room && at_probe < workers / 4);
}

/// Judges one worker by its probes and its calls. A failure degrades it, a success restores it, so many failures in
/// a row remove it. Says when the next probe is due. A result puts that off where a probe would show no more than that the
/// worker answers; an error never does. A tick that comes late, because the host itself stood still, finds a probe due and
/// no more.
class health_monitor {
public:
    /// `has_own_check`: a probe looks at more than that the worker answers.
    health_monitor(const health_check_options& options, bool has_own_check, time_point now) noexcept;

    /// It passed a probe or answered a call with a result. Restores a degraded worker only after a probe: an answer that
    /// was on its way when it failed proves nothing, but it does forgive failures.
    health_verdict passed_probe(time_point now) noexcept;
    void answered(time_point now) noexcept;

    /// It failed a probe or, in a way that counts, a call.
    health_verdict failed(time_point now) noexcept;

    /// The next probe is not to wait longer than until `moment`.
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
