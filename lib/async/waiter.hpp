// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/suspended_caller.hpp"
#include <skep/error.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace skep {

/// One caller among several that wait for the same thing. It is answered once: by the outcome, or by
/// cancelling. Each has its own copy of an error, which it may change or let go of on its own thread.
template <class T>
class waiter {
public:
    /// To be called before anything else.
    void attach(std::unique_ptr<suspended_caller> caller) noexcept { caller_ = std::move(caller); }

    void complete(std::optional<error> problem, const T& value) {
        if (const auto caller = std::move(caller_)) {
            problem_ = std::move(problem);
            value_ = value;
            caller->resume();
        }
    }

    /// Destroys what would resume the caller.
    void forget() noexcept { caller_.reset(); }

    /// What it was completed with. For the caller, after it has been resumed.
    T take() {
        if (problem_) {
            throw std::move(*problem_);
        }
        return std::move(value_);
    }

private:
    std::unique_ptr<suspended_caller> caller_;
    std::optional<error> problem_;
    T value_{};
};

template <class T>
using waiter_list = std::vector<std::shared_ptr<waiter<T>>>;

template <class T>
void complete_all(waiter_list<T>& waiters, const std::optional<error>& problem, const T& value) {
    for (auto& each : std::exchange(waiters, {})) {
        each->complete(problem, value);
    }
}

} // namespace skep
