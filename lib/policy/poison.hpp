// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/self_healing.hpp>
#include <skep/time.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>

namespace skep {

/// Remembers which inputs workers crashed on, by fingerprint, to refuse those that crashed too many. Bounded in
/// number and time; the oldest go first.
class poison_list {
public:
    static constexpr std::size_t most = 256;

    explicit poison_list(const crash_barrier_options& options) noexcept
        : limit_(options.poison_crashes), memory_(options.poison_ttl) {}

    /// A worker crashed while it had this input; returns how many have by now, or 0 if any number may.
    int blame(std::uint64_t fingerprint, time_point now);

    /// Whether the input is to be refused.
    bool is_poison(std::uint64_t fingerprint, time_point now) noexcept;

    /// False if nothing is to be refused: the usual case, so that no fingerprint need be taken.
    bool refuses_any() const noexcept;

private:
    struct suspect {
        std::uint64_t fingerprint;
        int crashes;
        time_point last;
    };

    std::deque<suspect>::iterator find(std::uint64_t fingerprint) noexcept;
    void forget_old(time_point now) noexcept;

    int limit_;
    duration memory_;
    std::deque<suspect> suspects_; ///< latest crash last
};

} // namespace skep
