// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "policy/patient_deadline.hpp"

#include <boost/asio/awaitable.hpp>

namespace skep {

/// Lets one coroutine wait until another coroutine opens the latch, or until a deadline. Level-triggered: a
/// wait on an open latch returns at once. A wait throws operation_aborted if its coroutine is cancelled, even
/// if the latch is open. Used on one strand, by one waiter at a time.
class latch {
public:
    explicit latch(const strand& executor) : timer_(executor) {}

    void open();

    void close() noexcept { open_ = false; }

    bool is_open() const noexcept { return open_; }

    /// Both return true if the latch is open, false if `deadline` passed first.
    asio::awaitable<bool> wait_until(time_point deadline);
    asio::awaitable<bool> wait();

    /// Like wait_until(time_point), for work that others must complete before `deadline`, which must outlive
    /// the wait.
    asio::awaitable<bool> wait_until(patient_deadline& deadline);

private:
    timer timer_;
    bool open_ = false;
};

} // namespace skep
