// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "load.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// In all, 80 calls per second.
constexpr int caller_count = 8;
constexpr auto pace = 100ms;

} // namespace

std::vector<asio::awaitable<void>> steady_load::callers() {
    std::vector<asio::awaitable<void>> all;
    for (int i = 0; i < caller_count; ++i) {
        all.push_back(call_regularly());
    }
    return all;
}

asio::awaitable<void> steady_load::call_regularly() {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, pace);
    while (!over_) {
        co_await timer.async_wait(asio::use_awaitable);
        co_await call(static_cast<std::int64_t>(sent_));
        timer.expires_at(timer.expiry() + pace);
    }
}

asio::awaitable<void> steady_load::call(std::int64_t number) {
    auto request = skep::request("square").arg("number", number).idempotent(true);
    const auto begun = std::chrono::steady_clock::now();
    ++sent_;
    try {
        const auto answer = co_await pool_.execute(std::move(request));
        const bool is_right = answer.value == number * number;
        right_ += is_right ? 1 : 0;
        retried_ += answer.attempts > 1 ? 1 : 0;
        if (!is_right) {
            note_failure("a wrong answer");
        }
    } catch (const skep::error& problem) {
        if (problem.code() == skep::errc::cancelled) {
            --sent_; // a cancelled call is no failure
            throw;
        }
        note_failure(problem.what());
    }
    slowest_ = std::max<skep::duration>(slowest_, std::chrono::steady_clock::now() - begun);
}

void steady_load::note_failure(const std::string& text) {
    if (failure_.empty()) {
        failure_ = text;
    }
}

std::string steady_load::summary() const {
    return "good calls: " + std::to_string(right_) + " of " + std::to_string(sent_) + " succeeded, " +
           std::to_string(retried_) + " by a second worker, the slowest took " +
           std::to_string(slowest_ / 1ms) + " ms";
}
