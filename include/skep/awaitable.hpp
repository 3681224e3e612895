// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// Names Asio's awaitable without including Asio, which is what a header needs whose functions are only stored or handed
/// on, such as a std::function with an awaitable result. Who makes one, assigns a coroutine to it or calls it, includes
/// Asio, before or after, or a header of skep that does: <skep/pool.hpp>, <skep/run.hpp>, <skep/skep.hpp>.
///
/// To be spelled boost::asio::awaitable<T, boost::asio::any_io_executor>, which is the type that Asio calls
/// awaitable<T>: the default of the second parameter is Asio's to declare.

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

/// Returns `operation`, which user code has returned as `source`. Throws std::logic_error if it is empty, that is
/// default-constructed or moved-from: Asio would resume a null coroutine.
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
