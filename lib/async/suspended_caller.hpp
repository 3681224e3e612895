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

/// Suspends the calling coroutine, and passes it to `begin`, which must not throw.
template <class Begin>
asio::awaitable<void> suspend(Begin begin) {
    return detail::initiate<void>(asio::use_awaitable, detail::no_executor, std::move(begin));
}

} // namespace skep
