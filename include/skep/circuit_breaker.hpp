// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/time.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace skep {

/// Thresholds and times of a circuit_breaker.
struct circuit_breaker_options {
    int failures = 5;                              ///< failures in a row that open the circuit, 1..1,000,000
    duration open_time = std::chrono::seconds(30); ///< from opening to the first trial, 1 ms..24 h
    int trials = 1;                                ///< concurrent trials while half open, 1..1000

    /// A trial without an outcome counts as failed after this time, 1 ms..24 h.
    duration trial_limit = std::chrono::seconds(30);
};

/// State of a circuit_breaker.
enum class circuit_state {
    closed,   ///< all attempts are admitted
    open,     ///< no attempt is admitted
    half_open ///< a few trials are admitted: the first success closes the circuit, a failure opens it again
};

/// Keeps callers away from an operation that fails repeatedly, and detects when the operation works again. A
/// success resets the count of failures. A trial that never reports its outcome cannot keep the circuit half
/// open forever. An outcome that arrives after a change of state is ignored.
///
///     const auto attempt = breaker.admit(now());
///     if (!attempt) { /* fail fast; try again at breaker.next_admission(now()) */ }
///     // ... do it, then
///     breaker.succeeded(*attempt, now()); // or failed(), or abandoned()
///
/// A plain value without a clock, timers or locks. Times are arguments, and must not run backwards.
/// Thread safety: not thread-safe.
class SKEP_API circuit_breaker {
public:
    /// An admitted attempt. Report its outcome once.
    class attempt {
        friend class circuit_breaker;
        std::uint64_t era = 0;
        time_point limit;
    };

    /// Constructs a closed circuit.
    /// Throws error(errc::invalid_config) that names field, value and rule.
    explicit circuit_breaker(const circuit_breaker_options& options = {});

    /// Admits one attempt. Returns std::nullopt if the circuit is open, or half open with all trials in
    /// progress.
    std::optional<attempt> admit(time_point now);

    /// Reports a success: resets the count of failures, and closes a half-open circuit.
    void succeeded(const attempt& trial, time_point now);
    /// Reports a failure: opens a half-open circuit, and a closed circuit after
    /// circuit_breaker_options::failures in a row.
    void failed(const attempt& trial, time_point now);

    /// Reports that an attempt was broken off without an outcome. While half open, another trial may take its
    /// place.
    void abandoned(const attempt& trial, time_point now);

    /// Opens the circuit at once, in any state.
    void trip(time_point now);

    /// Returns the state at time `now`: an open circuit becomes half open as time passes.
    circuit_state state(time_point now);

    /// Returns the earliest time for a successful admit(): `now` if an attempt is admitted now. While half
    /// open with all trials in progress: the time when the oldest trial counts as failed and the circuit
    /// opens again.
    time_point next_admission(time_point now);

private:
    void catch_up(time_point now);
    void enter(circuit_state state);
    void open(time_point moment);

    circuit_breaker_options options_;
    circuit_state state_ = circuit_state::closed;
    int failures_ = 0;
    time_point half_opens_at_;
    std::vector<time_point> trials_; ///< time limits of the trials in progress, the oldest first
    std::uint64_t era_ = 0;          ///< counts the changes of state
};

} // namespace skep
