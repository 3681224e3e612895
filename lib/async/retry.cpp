// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/clock.hpp"
#include "core/random_share.hpp"
#include <skep/retry.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/wait_traits.hpp>

namespace skep::detail {

namespace asio = boost::asio;

double random_share() {
    return skep::random_share();
}

asio::awaitable<void> pause(duration length) {
    const auto executor = co_await asio::this_coro::executor;
    asio::basic_waitable_timer<clock, asio::wait_traits<clock>, asio::any_io_executor> timer(executor);
    timer.expires_after(length);
    boost::system::error_code ec;
    auto token = asio::redirect_error(asio::use_awaitable, ec);
    co_await timer.async_wait(std::move(token));
    if (ec) {
        throw error(errc::cancelled, {});
    }
}

} // namespace skep::detail
