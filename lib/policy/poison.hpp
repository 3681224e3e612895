// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/keyed_digest.hpp"
#include <skep/self_healing.hpp>
#include <skep/time.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>

namespace skep {

/// Remembers the inputs that crashed workers, and refuses an input after too many crashes. Bounded in number
/// and time; the oldest entries are dropped first. A digest under a secret key stands for the whole input:
/// see keyed_digest. The digest takes 48 bytes regardless of the input's size, and no caller can forge an
/// input that matches another caller's.
class poison_list {
public:
    static constexpr std::size_t most = 256;

    /// The part of a call that a worker sees.
    struct input {
        std::uint64_t outline; ///< equal for inputs of one digest; cheap to compute
        keyed_digest::value digest;
        bool operator==(const input&) const = default;
    };

    explicit poison_list(const crash_barrier_options& options) noexcept
        : limit_(options.poison_crashes), memory_(options.poison_ttl) {}

    /// Records that a worker crashed while it had this input. Returns the number of crashes so far, or 0 if
    /// the limit is off.
    int blame(const input& call_input, time_point now);

    /// Returns true if the pool refuses the input.
    bool is_poison(const input& call_input, time_point now) noexcept;

    /// Returns false if the pool refuses no input: the usual case.
    bool refuses_any() const noexcept;

    /// Returns false if the pool refuses no input of that outline, so that no digest is needed.
    bool may_refuse(std::uint64_t outline) const noexcept;

private:
    struct suspect {
        input had;
        int crashes;
        time_point last;
    };

    std::deque<suspect>::iterator find(const input& call_input) noexcept;
    void drop_old(time_point now) noexcept;

    int limit_;
    duration memory_;
    std::deque<suspect> suspects_; ///< latest crash last
};

} // namespace skep
