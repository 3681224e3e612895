// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "monitor.hpp"

#include "../common.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto look_interval = 10ms;
constexpr int looks_per_table = 10;

bool is_in_rotation(const skep::worker_status& worker) {
    return !worker.retiring &&
           (worker.state == skep::worker_state::ready || worker.state == skep::worker_state::busy);
}

/// Returns the reason of an unusual state, or an empty string.
std::string reason_of(const skep::worker_status& worker) {
    const bool unusual = worker.state == skep::worker_state::degraded ||
                         worker.state == skep::worker_state::stopping || is_terminal(worker.state);
    if (worker.held_for) {
        return "held back for " + seconds(*worker.held_for);
    }
    return unusual && worker.last_transition ? worker.last_transition->reason : "";
}

/// Returns the worker's state, with `ready` for `busy`: these two alternate with each call.
std::string state_of(const skep::worker_status& worker) {
    const bool serves = worker.state == skep::worker_state::busy || worker.state == skep::worker_state::ready;
    if (serves) {
        return worker.retiring ? "leaving" : "ready";
    }
    return std::string(to_string(worker.state));
}

std::string row_of(const skep::worker_status& worker) {
    const auto reason = reason_of(worker);
    const auto before = worker.last_failure.empty() ? "" : "before it: " + worker.last_failure;
    const auto load = std::to_string(worker.load) + "/" + std::to_string(worker.capacity);
    const std::string health(to_string(worker.health));
    std::array<char, 100> facts{};
    std::snprintf(facts.data(), facts.size(), "%-11s %-9s %-9s %4s %6llu %4llu MiB  ",
                  to_string(worker.id).c_str(), state_of(worker).c_str(), health.c_str(), load.c_str(),
                  static_cast<unsigned long long>(worker.completed),
                  static_cast<unsigned long long>(worker.resident_bytes >> 20));
    return facts.data() + (reason.empty() ? before : reason);
}

} // namespace

monitor::monitor(skep::pool& workers, const steady_load& load, screen& output)
    : pool_(workers), load_(load), screen_(output), begun_(std::chrono::steady_clock::now()) {}

asio::awaitable<void> monitor::run() {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor);
    while (!over_) {
        auto now = co_await pool_.status();
        look(std::move(now));
        timer.expires_after(look_interval);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

void monitor::look(skep::pool_status now) {
    const auto before = std::exchange(latest_, std::move(now));
    note_departures();
    note_gone(before.workers);
    if (!screen_.is_terminal()) {
        show_changes();
    } else if (looks_++ % looks_per_table == 0) {
        show_table();
    }
}

void monitor::note_departures() {
    for (const auto& worker : latest_.workers) {
        if (worker.uptime > skep::duration::zero() && !is_in_rotation(worker)) {
            const departure first{std::chrono::steady_clock::now(), {}};
            auto& noted = departures_.try_emplace(worker.id, first).first->second;
            const auto reason = reason_of(worker);
            noted.reason = reason.empty() ? noted.reason : reason;
        }
    }
}

/// A crashed process may have ended before the next look.
void monitor::note_gone(const std::vector<skep::worker_status>& before) {
    for (const auto& worker : before) {
        const auto is_this = [&worker](const skep::worker_status& each) { return each.id == worker.id; };
        const auto& all = latest_.workers;
        if (worker.pid == 0 || std::any_of(all.begin(), all.end(), is_this)) {
            continue;
        }
        const departure now{std::chrono::steady_clock::now(), {}};
        departures_.try_emplace(worker.id, now);
        if (!screen_.is_terminal()) {
            tell("  " + to_string(worker.id) + " gone");
        }
    }
}

void monitor::show_changes() {
    for (const auto& worker : latest_.workers) {
        const auto state = state_of(worker);
        auto& shown = shown_[worker.id];
        if (state != shown) {
            shown = state;
            const auto reason = reason_of(worker);
            tell("  " + to_string(worker.id) + " " + state + (reason.empty() ? "" : ": " + reason));
        }
    }
}

void monitor::show_table() {
    std::vector<std::string> rows{"", "worker      state     health    load  calls   memory  why"};
    for (const auto& worker : latest_.workers) {
        rows.push_back(row_of(worker));
    }
    rows.push_back(load_.summary());
    screen_.table(std::move(rows));
}

bool monitor::is_replaced(const skep::worker_id& which) const noexcept {
    const auto& all = latest_.workers;
    const bool serves = std::any_of(all.begin(), all.end(), [&which](const skep::worker_status& each) {
        return each.id == which && !each.retiring;
    });
    return !serves && latest_.live == latest_.desired;
}

void monitor::tell(const std::string& text) {
    std::array<char, 16> time{};
    const auto elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_);
    std::snprintf(time.data(), time.size(), "%6.2f  ", elapsed.count());
    screen_.line(time.data() + text);
}
