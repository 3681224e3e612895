// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// Declares Asio's awaitable without including Asio. A header that only stores or passes on functions with an
/// awaitable result, for example in a std::function, needs no more. A source that defines, assigns or calls
/// such a function includes
/// Asio, before or after this header, or a header of skep that does: <skep/pool.hpp>, <skep/run.hpp>,
/// <skep/skep.hpp>.
///
/// Spell the type boost::asio::awaitable<T, boost::asio::any_io_executor>. This is Asio's awaitable<T>: only
/// Asio may declare the default of the second parameter.

#pragma once

#include <stdexcept>
#include <string>

#pragma GCC visibility push(default) // as Asio declares them
namespace boost::asio {

class any_io_executor;

template <typename T, typename Executor>
class awaitable;

} // namespace boost::asio
#pragma GCC visibility pop

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
