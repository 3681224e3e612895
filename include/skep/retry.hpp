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

/// Awaits `operation()` until an attempt succeeds or `policy` allows no further attempt after a skep::error.
/// Returns the result of the operation. `operation()` returns an awaitable with a result.
///
///     auto call = [&] { return pool.execute(req); };
///     auto trying = skep::retry(skep::retry_policy(), call);
///     const auto answer = co_await std::move(trying);
///
/// Throws the error of the last attempt. Passes other exceptions on without a further attempt. Throws
/// std::logic_error for an empty awaitable.
/// Cancellation: during an attempt, as the operation; during a wait (all types), the wait ends with
/// errc::cancelled.
/// Executor: the caller's.
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
