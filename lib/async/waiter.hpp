// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/completion.hpp"

#include <memory>
#include <vector>

namespace skep {

/// One caller among several that wait for the same thing. It is answered once: by the outcome, or by
/// cancelling.
template <class T>
class waiter {
public:
    explicit waiter(std::unique_ptr<completion<T>> caller) : caller_(std::move(caller)) {}

    void complete(std::exception_ptr error, const T& value) {
        if (auto caller = std::move(caller_)) {
            caller->complete(std::move(error), value);
        }
    }

    /// Destroys what would resume the caller.
    void forget() noexcept { caller_.reset(); }

    asio::cancellation_slot cancellation() const noexcept { return caller_->cancellation(); }

private:
    std::unique_ptr<completion<T>> caller_;
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
