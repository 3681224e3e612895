// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/deadline_watch.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace skep {

namespace {

// Most deadlines per turn: a storm of deadlines must not block the strand.
constexpr int most_per_turn = 256;

} // namespace

void deadline_watch::set(claim& watched_claim, time_point due_time) {
    if (due_time == time_point::max()) {
        heap_.remove(watched_claim);
        return;
    }
    heap_.set(watched_claim, due_time);
    if (due_time < armed_) {
        armed_ = due_time;
        moved_.open();
    }
}

asio::awaitable<void> deadline_watch::wait() {
    bool is_due = heap_.earliest() <= context_.now();
    if (is_due) {
        co_await asio::post(context_.executor, asio::use_awaitable);
    }
    while (!is_due) {
        armed_ = heap_.earliest();
        moved_.close();
        is_due = !co_await moved_.wait_until(armed_);
    }
}

void deadline_watch::notify_due(const supply_outlook& supply, const event_queue& events) {
    const auto now = context_.now();
    for (int told = 0; told < most_per_turn && events.empty(); ++told) {
        auto* const node = heap_.pop_due(now);
        if (node == nullptr) {
            return;
        }
        const claim_ptr due(static_cast<claim*>(node));
        due->holder->on_due(*due, supply);
    }
}

} // namespace skep
