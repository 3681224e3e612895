// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/pause.hpp"
#include "async/timer.hpp"
#include "core/clock.hpp"
#include "core/duration_text.hpp"
#include "testing/run_what_is_due.hpp"
#include <skep/testing.hpp>

#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace skep::testing {

namespace {

constexpr duration usual_step = std::chrono::milliseconds(10);

} // namespace

virtual_time::virtual_time(asio::io_context& context)
    : context_(context), time_(std::make_unique<manual_time>()) {}

virtual_time::~virtual_time() = default;

time_point virtual_time::now() const noexcept {
    return clock::now();
}

void virtual_time::run_until_idle() {
    while (run_what_is_due(context_) > 1) {}
}

void virtual_time::advance(duration span, duration step) {
    if (step <= duration::zero()) {
        throw std::invalid_argument("the time advances in steps of more than 0");
    }
    run_until_idle();
    while (span > duration::zero()) {
        const auto next = std::min(span, step);
        time_->advance(next);
        run_until_idle();
        span -= next;
    }
}

void virtual_time::advance_until(const bool& is_done, duration limit) {
    const auto granted = limit;
    run_until_idle();
    for (; !is_done && limit > duration::zero(); limit -= usual_step) {
        advance(usual_step);
    }
    if (!is_done) {
        throw std::runtime_error("the operation has not ended within " + in_milliseconds(granted) +
                                 " of virtual time; timers of other libraries keep to real time");
    }
}

asio::awaitable<void> sleep_for(duration span) {
    const auto executor = co_await asio::this_coro::executor;
    const auto now = clock::now();
    const auto end = span <= duration::zero() ? now : after_limit(now, span);
    auto pause = pause_until(strand(executor), end);
    co_await std::move(pause);
}

} // namespace skep::testing
