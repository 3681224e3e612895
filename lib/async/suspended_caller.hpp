// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/initiate.hpp>

#include <boost/asio/awaitable.hpp>

#include <utility>

namespace skep {

namespace asio = boost::asio;

/// A suspended coroutine that waits for its turn.
using suspended_caller = completion<void>;

/// Suspends the calling coroutine, and passes it to `begin(completion<T>)`, which must not throw. Returns the
/// value of the completion.
template <class T = void, class Begin>
asio::awaitable<T> suspend(Begin begin) {
    return detail::initiate<T>(asio::use_awaitable, detail::no_executor, std::move(begin));
}

} // namespace skep
