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

/// The outcome of an operation: a T, or the error.
template <class T>
using result = boost::system::result<T, error>;

/// Throws `failure`. Called by result::value() of a failure.
[[noreturn]] inline void throw_exception_from_error(const error& failure, const boost::source_location&) {
    throw failure;
}

/// A completion token that adapts another one: an operation that results in a T completes with void(skep::result<T>), and
/// throws nothing. See as_result.
template <class Token = boost::asio::use_awaitable_t<>>
struct as_result_t {
    Token token; ///< what is adapted

    /// Adapts another token.
    template <class Other>
    constexpr as_result_t<std::decay_t<Other>> operator()(Other&& other) const {
        return {std::forward<Other>(other)};
    }
};

/// For code in which failure is a normal case, such as a full queue: unwinding the stack costs more than all that the pool does
/// for a rejected call.
///
///     const auto answer = co_await pool.execute(std::move(call), skep::as_result);
///     if (!answer && answer.error().errc() == skep::errc::pool_saturated) {
///         co_return busy();
///     }
///
/// as_result(token) adapts a token of any kind: as_result(boost::asio::use_future) gives a std::future<skep::result<T>>.
inline constexpr as_result_t<> as_result{};

} // namespace skep
