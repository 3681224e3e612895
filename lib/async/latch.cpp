// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/latch.hpp"

#include "async/checkpoint.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace skep {

void latch::open() {
    open_ = true;
    timer_.cancel();
}

asio::awaitable<bool> latch::wait_until(time_point deadline) {
    while (!open_ && clock::now() < deadline) {
        timer_.expires_at(deadline);
        boost::system::error_code ec; // in either case the loop checks the facts
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await timer_.async_wait(std::move(token));
    }
    co_await end_if_cancelled();
    co_return open_;
}

asio::awaitable<bool> latch::wait_until(patient_deadline& deadline) {
    bool opened = co_await wait_until(deadline.due());
    while (!opened && !deadline.has_passed(clock::now())) {
        opened = co_await wait_until(deadline.due());
    }
    co_return opened;
}

asio::awaitable<bool> latch::wait() {
    return wait_until(time_point::max());
}

} // namespace skep
