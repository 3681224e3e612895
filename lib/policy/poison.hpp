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

/// Remembers which inputs workers crashed on, to refuse those that crashed too many. Bounded in number and time; the
/// oldest go first. An input is known by a digest under a secret key, which stands for the input in full: see keyed_digest.
/// That takes 48 bytes whatever the input's size, and no caller can make an input that is taken for another one's.
class poison_list {
public:
    static constexpr std::size_t most = 256;

    /// What a worker saw of a call.
    struct input {
        std::uint64_t outline; ///< the same for inputs of one digest; cheap to tell
        keyed_digest::value digest;
        bool operator==(const input&) const = default;
    };

    explicit poison_list(const crash_barrier_options& options) noexcept
        : limit_(options.poison_crashes), memory_(options.poison_ttl) {}

    /// A worker crashed while it had this input; returns how many have by now, or 0 if any number may.
    int blame(const input& call_input, time_point now);

    /// Whether the input is to be refused.
    bool is_poison(const input& call_input, time_point now) noexcept;

    /// False if nothing is to be refused: the usual case.
    bool refuses_any() const noexcept;

    /// False if no input of that outline is to be refused, so that no digest need be taken.
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
