// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <exception>
#include <functional>
#include <utility>

namespace skep {

/// Where an exception ends that leaves the work of a pool on its strand: it ends the pool. On the strand nothing else
/// catches the lack of memory for what is small and of fixed size, and goes on. Such work begins in a function that was
/// posted, which guard() runs, or in a task, whose group is given cross().
class boundary {
public:
    explicit boundary(std::function<void(const std::exception_ptr&)> on_crossed)
        : on_crossed_(std::move(on_crossed)) {}

    /// `on_crossed` must not throw.
    void cross(const std::exception_ptr& problem) noexcept {
        crossed_ = true;
        on_crossed_(problem);
    }

    /// The pool's work is of no use any more, until the boundary is mended.
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
