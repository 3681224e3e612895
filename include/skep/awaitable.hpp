// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// The type of Asio's coroutines, for headers that name a function with an awaitable result. Pure code may
/// include this header, and no header of Asio.

#pragma once

#include <boost/asio/awaitable.hpp> // lint: allow layer because pure code stores functions that return one

#include <stdexcept>
#include <string>

namespace skep::detail {

/// Returns `operation`, the result of user code. `source`: the name of that code, for the text of the
/// exception.
/// Throws std::logic_error if `operation` is empty (default-constructed or moved from): Asio would resume a
/// null coroutine.
template <class T, class Executor>
boost::asio::awaitable<T, Executor> checked(boost::asio::awaitable<T, Executor> operation,
                                            const char* source) {
    if (!operation.valid()) {
        throw std::logic_error(std::string(source) +
                               " returned an empty awaitable: a default-constructed or moved-from one");
    }
    return operation;
}

} // namespace skep::detail
