// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <exception>
#include <functional>
#include <utility>

namespace skep {

/// Outermost handler for exceptions that leave the work of a pool on its strand: ends the pool. Other code on
/// the strand does not catch failed allocations that are small and of fixed size. Such work begins in a
/// posted function, run by guard(), or in a task, whose group reports errors to cross().
class boundary {
public:
    explicit boundary(std::function<void(const std::exception_ptr&)> on_crossed)
        : on_crossed_(std::move(on_crossed)) {}

    /// Reports `problem` to `on_crossed`, which must not throw.
    void cross(const std::exception_ptr& problem) noexcept {
        crossed_ = true;
        on_crossed_(problem);
    }

    /// Returns true after an exception, until mend(): the pool's work is unusable.
    bool is_crossed() const noexcept { return crossed_; }
    void mend() noexcept { crossed_ = false; }

    template <class Function>
    void guard(Function&& function) noexcept {
        try {
            function();
        } catch (...) {
            cross(std::current_exception());
        }
    }

private:
    std::function<void(const std::exception_ptr&)> on_crossed_;
    bool crossed_ = false;
};

} // namespace skep
