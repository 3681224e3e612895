// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include <skep/time.hpp>

#include <boost/system/error_code.hpp>

#include <chrono>
#include <utility>

namespace skep {

/// A timer for a deadline that moves with every reply. Sets the timer only for a sooner deadline: a spurious
/// wake-up is cheaper than setting the timer each time.
class lazy_timer {
public:
    explicit lazy_timer(const strand& executor) : timer_(executor) {}

    /// Calls `on_time` at `due_time` or before; never if `due_time` is time_point::max(). `on_time` keeps
    /// this object alive.
    template <class OnTime>
    void expire_at(time_point due_time, OnTime on_time) {
        if (due_time == time_point::max()) {
            set_for_ = due_time;
            timer_.cancel();
        } else if (due_time < set_for_) {
            set_for_ = due_time;
            timer_.expires_at(due_time);
            timer_.async_wait([this, on_time = std::move(on_time)](boost::system::error_code ec) {
                if (!ec) {
                    set_for_ = time_point::max();
                    on_time();
                }
            });
        }
    }

    void cancel() {
        set_for_ = time_point::max();
        timer_.cancel();
    }

private:
    using clock = std::chrono::steady_clock;

    asio::basic_waitable_timer<clock, asio::wait_traits<clock>, strand> timer_;
    time_point set_for_ = time_point::max();
};

} // namespace skep
