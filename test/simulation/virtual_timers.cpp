// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/virtual_timers.hpp"

#include "core/clock.hpp"

#include <boost/asio/detail/deadline_timer_service.hpp>
#include <boost/asio/detail/scheduler.hpp>

#include <vector>

namespace skep::simulation {

namespace {

template <class Timer>
struct parts_of;

template <class Clock, class Waits, class Executor>
struct parts_of<asio::basic_waitable_timer<Clock, Waits, Executor>> {
    using traits = asio::detail::chrono_time_traits<Clock, Waits>;
};

using timer_traits = parts_of<timer>::traits;
using timer_service = asio::detail::deadline_timer_service<timer_traits>;
using timer_queue = asio::detail::timer_queue<timer_traits>;

// The one way to a private member that the language has: an explicit instantiation may name it.
timer_queue& queue_of(timer_service& service);

template <timer_queue timer_service::*Member>
struct opened {
    friend timer_queue& queue_of(timer_service& service) { return service.*Member; }
};
template struct opened<&timer_service::timer_queue_>;

timer_queue& queue_in(asio::io_context& context) {
    return queue_of(asio::use_service<timer_service>(context));
}

} // namespace

/// Has the queue grow as large as it will ever be: Asio does not survive that there is no memory for a wait.
virtual_timers::virtual_timers(asio::io_context& context) : context_(context) {
    constexpr std::size_t most_waits = 512;
    std::vector<timer> all;
    for (std::size_t i = 0; i < most_waits; ++i) {
        all.emplace_back(strand(context.get_executor()), time_point::max());
        all.back().async_wait([](const boost::system::error_code&) {});
    }
    all.clear();
    context.poll();
    context.restart();
}

time_point virtual_timers::next() const {
    constexpr long longest = 100L * 365 * 24 * 3600 * 1'000'000; // beyond that it means never
    const auto& queue = queue_in(context_);
    const long wait = queue.wait_duration_usec(longest);
    return wait >= longest ? time_point::max() : clock::now() + std::chrono::microseconds(wait);
}

void virtual_timers::release_due() {
    asio::detail::op_queue<asio::detail::scheduler_operation> due;
    queue_in(context_).get_ready_timers(due);
    asio::use_service<asio::detail::scheduler>(context_).post_deferred_completions(due);
}

} // namespace skep::simulation
