// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/self_healing.hpp>
#include <skep/time.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace skep {

/// What follows from a sign of health or sickness.
enum class health_verdict { none, degrade, restore, remove };

/// Judges one worker by its probes and its calls. A failure degrades it, a success restores it, so many failures in
/// a row remove it. Says when the next probe is due; work done puts it off. A tick that comes late, because the host
/// itself stood still, finds a probe due and no more.
class health_monitor {
public:
    health_monitor(const health_check_options& options, time_point now) noexcept;

    /// It passed a probe or answered a call. Restores a degraded worker only after a probe: an answer that was on
    /// its way when it failed proves nothing, but it does forgive failures.
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
    time_point next_probe_;
    int failures_ = 0;
    bool degraded_ = false;
};

/// Finds the worker that fails every call, though it answers pings and probes: a streak of failures in a row is
/// damning only if its siblings answer as many calls meanwhile, or, where there is nobody to compare it with, if it
/// answered some before; else the callers are to blame.
class error_streak {
public:
    /// `limit` failures in a row; 0 = never.
    explicit error_streak(std::size_t limit) noexcept : limit_(limit) {}

    void succeeded() noexcept;

    /// One more failure. `sibling_successes`: how many calls other workers of the pool have answered so far, ever.
    /// True if the worker is to be replaced.
    bool failed(std::uint64_t sibling_successes) noexcept;

private:
    std::size_t limit_;
    std::size_t length_ = 0;
    bool ever_succeeded_ = false;
    std::uint64_t siblings_at_begin_ = 0;
};

} // namespace skep
