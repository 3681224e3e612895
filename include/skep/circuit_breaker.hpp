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

/// When a circuit opens, and what closes it again.
struct circuit_breaker_options {
    int failures = 5;                              ///< in a row that open the circuit, 1..1,000,000
    duration open_time = std::chrono::seconds(30); ///< from then to the first trial, 1 ms..24 h
    int trials = 1;                                ///< at a time while half open, 1..1000
    duration trial_limit =
        std::chrono::seconds(30); ///< a trial without outcome by then has failed, 1 ms..24 h
};

/// What a circuit_breaker lets through.
enum class circuit_state {
    closed,   ///< everything is admitted
    open,     ///< nothing is
    half_open ///< a few trials are; the first that succeeds closes the circuit, one that fails opens it again
};

/// Keeps callers from something that fails again and again, and finds out when it works again. A success forgives
/// the failures before it. A trial that never reports its outcome cannot hold the circuit half open for ever. An
/// outcome that arrives after the circuit has changed state says nothing about the new state and is ignored.
///
///     const auto attempt = breaker.admit(now());
///     if (!attempt) { /* fail fast; try again at breaker.next_admission(now()) */ }
///     // ... do it, then
///     breaker.succeeded(*attempt, now()); // or failed(), or abandoned()
///
/// A plain value without a clock, timers or locks: times are arguments and must not run backwards. Not thread-safe.
class SKEP_API circuit_breaker {
public:
    /// One admitted attempt, to be handed back with its outcome, once.
    class attempt {
        friend class circuit_breaker;
        std::uint64_t era = 0;
        time_point limit;
    };

    /// Throws error(errc::invalid_config) naming field, value and rule.
    explicit circuit_breaker(const circuit_breaker_options& options = {});

    /// Permission for one attempt; nothing while the circuit is open, or half open with all its trials under way.
    std::optional<attempt> admit(time_point now);

    /// The attempt has worked: forgives the failures so far, and closes a half-open circuit.
    void succeeded(const attempt& trial, time_point now);
    /// It has not: opens a half-open circuit, and a closed one after so many failures in a row.
    void failed(const attempt& trial, time_point now);

    /// It was broken off, which says nothing. While half open, another trial may take its place.
    void abandoned(const attempt& trial, time_point now);

    /// Opens the circuit at once, whatever its state.
    void trip(time_point now);

    /// What the circuit is at that time: an open one becomes half open as time passes.
    circuit_state state(time_point now);

    /// The earliest moment at which admit() may admit: `now` if it does now. While half open with all trials under
    /// way, the moment at which the oldest of them is given up and the circuit opens again.
    time_point next_admission(time_point now);

private:
    void catch_up(time_point now);
    void enter(circuit_state state);
    void open(time_point moment);

    circuit_breaker_options options_;
    circuit_state state_ = circuit_state::closed;
    int failures_ = 0;
    time_point half_opens_at_;
    std::vector<time_point> trials_; ///< under way: when each is given up, the oldest first
    std::uint64_t era_ = 0;          ///< goes up with each change of state
};

} // namespace skep
