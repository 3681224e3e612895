// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>

#include <boost/asio/use_awaitable.hpp>
#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>

#include <type_traits>
#include <utility>

namespace skep {

/// The outcome of an operation: a T or an error.
template <class T>
using result = boost::system::result<T, error>;

/// Throws `failure`. result::value() calls it for a failure.
[[noreturn]] inline void throw_exception_from_error(const error& failure, const boost::source_location&) {
    throw failure;
}

/// A completion token that adapts another token: an operation with result T completes with
/// void(skep::result<T>), and never throws. See as_result.
template <class Token = boost::asio::use_awaitable_t<>>
struct as_result_t {
    Token token; ///< the adapted token

    /// Returns an as_result_t that adapts `other`.
    template <class Other>
    constexpr as_result_t<std::decay_t<Other>> operator()(Other&& other) const {
        return {std::forward<Other>(other)};
    }
};

/// Completion token for code that expects failures, such as a full queue: unwinding the stack costs more than
/// rejecting a call.
///
///     const auto answer = co_await pool.execute(std::move(call), skep::as_result);
///     if (!answer && answer.error().kind() == skep::errc::pool_saturated) {
///         co_return busy();
///     }
///
/// as_result(token) adapts any token: as_result(boost::asio::use_future) returns a
/// std::future<skep::result<T>>.
inline constexpr as_result_t<> as_result{};

} // namespace skep
