// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/abi.hpp>
#include <skep/awaitable.hpp>
#include <skep/export.hpp>
#include <skep/retry_policy.hpp>

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace skep {

namespace detail {

SKEP_API double random_share();
SKEP_API boost::asio::awaitable<void> pause(duration length);

} // namespace detail

/// Awaits `operation()`, and again as `policy` says while it throws skep::error; returns its result, or throws the
/// error of the last attempt. Other exceptions are not retried. The operation is an awaitable with a result; an empty one
/// throws std::logic_error.
///
///     auto call = [&] { return pool.execute(req); };
///     auto trying = skep::retry(skep::retry_policy(), call);
///     const auto answer = co_await std::move(trying);
///
/// Executor: the caller's. Cancellation: during an attempt as that operation does; during a wait (all types) it ends
/// with errc::cancelled.
template <class Operation>
std::invoke_result_t<Operation&> retry(retry_policy policy, Operation operation) {
    for (int made = 1;; ++made) {
        std::optional<duration> wait;
        try {
            auto attempt = detail::checked(operation(), "the operation");
            auto result = co_await std::move(attempt);
            co_return result;
        } catch (const error& failure) {
            wait = policy.wait_after(made, failure, detail::random_share());
            if (!wait) {
                throw;
            }
        }
        auto waiting = detail::pause(*wait);
        co_await std::move(waiting);
    }
}

} // namespace skep
