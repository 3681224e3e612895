// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/suspended_caller.hpp"

#include <exception>
#include <memory>
#include <vector>

namespace skep {

/// One caller among several that wait for the same thing. It is answered once: by the outcome, or by
/// cancelling.
template <class T>
class waiter {
public:
    /// To be called before anything else.
    void attach(std::unique_ptr<suspended_caller> caller) noexcept { caller_ = std::move(caller); }

    void complete(std::exception_ptr error, const T& value) {
        if (const auto caller = std::move(caller_)) {
            error_ = std::move(error);
            value_ = value;
            caller->resume();
        }
    }

    /// Destroys what would resume the caller.
    void forget() noexcept { caller_.reset(); }

    /// What it was completed with. For the caller, after it has been resumed.
    T take() {
        if (error_) {
            std::rethrow_exception(error_);
        }
        return std::move(value_);
    }

private:
    std::unique_ptr<suspended_caller> caller_;
    std::exception_ptr error_;
    T value_{};
};

template <class T>
using waiter_list = std::vector<std::shared_ptr<waiter<T>>>;

template <class T>
void complete_all(waiter_list<T>& waiters, std::exception_ptr error, const T& value) {
    for (auto& each : std::exchange(waiters, {})) {
        each->complete(error, value);
    }
}

} // namespace skep
