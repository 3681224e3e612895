// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/checkpoint.hpp"
#include "async/timer.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/system/error_code.hpp>

namespace skep {

/// Lets coroutines wait for a change and then check the facts themselves. Used on one strand.
class condition_variable {
public:
    explicit condition_variable(const strand& executor) : executor_(executor) {}

    /// Returns after the next notify_all(), or throws operation_aborted if the coroutine is cancelled. A
    /// caller that checks the facts directly before misses no notification.
    asio::awaitable<void> wait() { return wait_until(time_point::max()); }

    /// Like wait(), but also returns when `deadline` has passed.
    asio::awaitable<void> wait_until(time_point deadline) {
        waiter self(executor_, deadline);
        waiters_.push_back(self);
        boost::system::error_code ec;
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await self.alarm.async_wait(std::move(token));
        co_await end_if_cancelled();
    }

    void notify_all() {
        for (auto& each : waiters_) {
            each.alarm.cancel();
        }
    }

private:
    /// Lies in the frame of the waiting coroutine, and leaves the list with that frame.
    struct waiter
        : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
        waiter(const strand& executor, time_point deadline) : alarm(executor, deadline) {}

        timer alarm;
    };

    strand executor_;
    boost::intrusive::list<waiter, boost::intrusive::constant_time_size<false>> waiters_;
};

} // namespace skep
