// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "chart.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto look_interval = 25ms;
constexpr auto row_interval = 250ms;
constexpr auto patience = 60s;

} // namespace

asio::awaitable<void> chart::run() {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor);
    begun_ = next_row_ = std::chrono::steady_clock::now();
    std::cout << "  time  queue  workers (# ready, + starting)\n";
    while (!has_returned()) {
        const auto status = co_await pool_.status();
        note(status);
        draw(status);
        timer.expires_after(look_interval);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

void chart::note(const skep::pool_status& status) {
    const auto now = std::chrono::steady_clock::now();
    fewest_ = std::min(fewest_, status.live);
    largest_ = std::max(largest_, status.live + status.starting);
    if (status.live > peak_) {
        peak_ = status.live;
        peak_at_ = now;
    }
    const bool no_more_work = finished_at_ != skep::time_point();
    if (no_more_work && status.live == limits_.min && status.retiring == 0) {
        returned_at_ = now;
    } else if (now - begun_ > patience) {
        throw std::runtime_error("the pool has not returned to its minimum in time");
    }
}

void chart::draw(const skep::pool_status& status) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_row_ && !has_returned()) {
        return;
    }
    next_row_ += row_interval;
    const auto there = status.live + status.starting;
    std::string bar = std::string(status.live, '#') + std::string(status.starting, '+');
    bar.append(limits_.max - std::min(limits_.max, there), '.');
    std::array<char, 32> facts{};
    const std::chrono::duration<double> elapsed = now - begun_;
    std::snprintf(facts.data(), facts.size(), "%6.2f  %5zu  ", elapsed.count(), status.queued);
    std::cout << facts.data() << bar << ' ' << status.live << std::endl;
}
