// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/as_result.hpp>
#include <skep/completion.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace skep {

/// The default completion token of every operation: the operation is co_awaited.
using default_token = boost::asio::use_awaitable_t<>;

namespace detail {

/// Calls a handler of signature void(result<T>).
template <class T>
struct by_result {
    template <class Handler, class Value>
    static void give(Handler&& handler, lazy_error&& failure, Value&& value) {
        if (failure) {
            std::forward<Handler>(handler)(result<T>(failure.to_error()));
        } else if constexpr (std::is_void_v<T>) {
            std::forward<Handler>(handler)(result<T>());
        } else {
            std::forward<Handler>(handler)(result<T>(std::move(value)));
        }
    }
};

template <class T>
struct exception_signature {
    using type = void(std::exception_ptr, T);
};
template <>
struct exception_signature<void> {
    using type = void(std::exception_ptr);
};

/// The signature and style that a token gives to an operation with result T.
template <class T, class Token>
struct token_traits {
    using style = by_exception;
    using signature = typename exception_signature<T>::type;

    template <class Given>
    static Given& inner(Given& token) noexcept {
        return token;
    }
};
template <class T, class Token>
struct token_traits<T, as_result_t<Token>> {
    using style = by_result<T>;
    using signature = void(result<T>);

    template <class Given>
    static auto& inner(Given& token) noexcept {
        return token.token;
    }
};

template <class Token>
inline constexpr bool is_coroutine_token = false;
template <class Executor>
inline constexpr bool is_coroutine_token<boost::asio::use_awaitable_t<Executor>> = true;

/// Erases the handler of a token, and begins the operation with it.
template <class T, class Style, class Start>
struct initiation {
    template <class Handler, class... Args>
    void operator()(Handler&& handler, Args&&... args) && {
        auto caller = completion<T>::template of<Style>(std::move(handler), executor);
        auto begin = std::move(start);
        begin(std::move(caller), std::forward<Args>(args)...);
    }

    using executor_type = boost::asio::any_io_executor;
    executor_type get_executor() const noexcept { return executor; }

    Start start;
    executor_type executor; ///< the default of handlers
};

/// The same for a coroutine.
template <class T, class Style, class Start>
struct coroutine_initiation {
    template <class Handler, class... Args>
    void operator()(Handler&& handler, Args&&... args) && {
        auto begin = std::move(start); // or the waiting coroutine would keep its captures alive
        begin(completion<T>::template of_coroutine<Style>(std::move(handler)), std::forward<Args>(args)...);
    }

    Start start;
};

/// Returns an empty executor: a coroutine has its own.
inline boost::asio::any_io_executor no_executor() noexcept {
    return {};
}

/// Begins an operation with result T by `start(completion<T>, args...)`, and returns the result of the token.
/// `executor()` returns the default executor of handlers.
template <class T, class Token, class Executor, class Start, class... Args>
auto initiate(Token&& token, const Executor& executor, Start start, Args... args) {
    using traits = token_traits<T, std::decay_t<Token>>;
    using style = typename traits::style;
    using signature = typename traits::signature;
    auto& inner = traits::inner(token);
    using inner_token = std::remove_reference_t<decltype(inner)>;
    if constexpr (is_coroutine_token<std::remove_const_t<inner_token>>) {
        return boost::asio::async_initiate<inner_token, signature>(
            coroutine_initiation<T, style, Start>{std::move(start)}, inner, std::move(args)...);
    } else {
        return boost::asio::async_initiate<inner_token, signature>(
            initiation<T, style, Start>{std::move(start), executor()}, inner, std::move(args)...);
    }
}

} // namespace detail

} // namespace skep
