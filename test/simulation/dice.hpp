// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace skep::simulation {

/// Chance, all of it: the same seed throws the same numbers on every machine. (xoshiro256**, seeded by
/// splitmix64.)
class dice {
public:
    explicit dice(std::uint64_t seed) noexcept {
        for (auto& word : state_) {
            seed += 0x9e3779b97f4a7c15;
            auto mixed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
            mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
            word = mixed ^ (mixed >> 31);
        }
    }

    std::uint64_t bits() noexcept {
        const auto result = rotate(state_[1] * 5, 7) * 9;
        const auto shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = rotate(state_[3], 45);
        return result;
    }

    /// 0 .. count - 1.
    std::size_t below(std::size_t count) noexcept { return static_cast<std::size_t>(bits() % count); }

    /// least .. most.
    std::size_t among(std::size_t least, std::size_t most) noexcept {
        return least + below(most - least + 1);
    }

    /// Uniform in [0, 1).
    double share() noexcept { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

    bool chance(double probability) noexcept { return share() < probability; }

    /// In whole microseconds, as fine as the reactor measures time.
    duration between(duration least, duration most) noexcept {
        const auto span = (most - least) / std::chrono::microseconds(1);
        return least + std::chrono::microseconds(below(static_cast<std::size_t>(span) + 1));
    }

    template <class T>
    T pick(std::initializer_list<T> from) noexcept {
        return from.begin()[below(from.size())];
    }

private:
    static std::uint64_t rotate(std::uint64_t bits, int by) noexcept {
        return (bits << by) | (bits >> (64 - by));
    }

    std::uint64_t state_[4];
};

} // namespace skep::simulation
