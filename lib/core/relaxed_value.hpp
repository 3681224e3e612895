// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <atomic>

namespace skep {

/// A value that one thread at a time changes, and any thread reads. Reads and changes need no lock; several
/// values are not consistent with each other.
template <class T>
class relaxed_value {
public:
    constexpr relaxed_value(T initial_value = {}) noexcept : value_(initial_value) {}

    operator T() const noexcept { return value_.load(std::memory_order_relaxed); }

    relaxed_value& operator=(T new_value) noexcept {
        value_.store(new_value, std::memory_order_relaxed);
        return *this;
    }
    relaxed_value& operator+=(T difference) noexcept { return *this = *this + difference; }
    relaxed_value& operator++() noexcept { return *this += 1; }
    relaxed_value& operator--() noexcept { return *this = *this - 1; }

private:
    std::atomic<T> value_;
};

} // namespace skep
