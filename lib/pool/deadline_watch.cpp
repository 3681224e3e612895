// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/deadline_watch.hpp"

#include "pool/next_attempt.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace skep {

namespace {

// After this many deadlines others get their turn: a storm of them must not block the strand.
constexpr int most_per_turn = 256;

} // namespace

void deadline_watch::set(claim& watched, time_point due) {
    if (due == time_point::max()) {
        heap_.remove(watched);
        return;
    }
    heap_.set(watched, due);
    if (due < armed_) {
        armed_ = due;
        moved_.open();
    }
}

asio::awaitable<void> deadline_watch::run() {
    for (;;) {
        const int told = tell_due(context_.now());
        if (told == most_per_turn) {
            co_await asio::post(context_.executor, asio::use_awaitable);
            continue;
        }
        armed_ = heap_.earliest();
        moved_.close();
        co_await moved_.wait_until(armed_);
    }
}

int deadline_watch::tell_due(time_point now) {
    int told = 0;
    while (auto* const node = told < most_per_turn ? heap_.pop_due(now) : nullptr) {
        const claim_ptr due(static_cast<claim*>(node));
        try {
            due->holder->on_due(*due);
        } catch (...) { // out of memory: its time will come again
            heap_.set(*due, now + before_next_attempt);
            throw;
        }
        ++told;
    }
    return told;
}

} // namespace skep
