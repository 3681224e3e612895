// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <exception>
#include <optional>
#include <utility>

namespace skep::test {

namespace asio = boost::asio;

/// Runs an operation to its end, and returns its result.
template <class T>
T complete(asio::awaitable<T> operation) {
    asio::io_context context(1);
    std::optional<T> result;
    std::exception_ptr problem;
    asio::co_spawn(context, std::move(operation), [&](std::exception_ptr error, std::optional<T> value) {
        problem = error;
        result = std::move(value);
    });
    context.run();
    if (problem) {
        std::rethrow_exception(problem);
    }
    return std::move(result.value());
}

inline void complete(asio::awaitable<void> operation) {
    asio::io_context context(1);
    std::exception_ptr problem;
    asio::co_spawn(context, std::move(operation), [&](std::exception_ptr error) { problem = error; });
    context.run();
    if (problem) {
        std::rethrow_exception(problem);
    }
}

/// The error that an operation ends with; fails the test if it succeeds.
template <class T>
error failure_of_complete(asio::awaitable<T> operation) {
    try {
        complete(std::move(operation));
    } catch (const error& failure) {
        return failure;
    }
    BOOST_ERROR("the operation succeeded");
    return error(errc::invalid_request, {});
}

} // namespace skep::test
