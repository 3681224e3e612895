// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "policy/patient_deadline.hpp"

#include <boost/asio/awaitable.hpp>

namespace skep {

/// Lets one coroutine wait until another opens the latch or a deadline passes. Level-triggered: a latch opened
/// before the wait lets it through at once. A wait of a coroutine that is cancelled throws operation_aborted, open or not.
/// Used on one strand only, by one waiter at a time.
class latch {
public:
    explicit latch(const strand& executor) : timer_(executor) {}

    void open();

    void close() noexcept { open_ = false; }

    bool is_open() const noexcept { return open_; }

    /// True if the latch is open, false if `deadline` passed first.
    asio::awaitable<bool> wait_until(time_point deadline);
    asio::awaitable<bool> wait();

    /// The same for what others are to do before `deadline`, which must outlive the wait.
    asio::awaitable<bool> wait_until(patient_deadline& deadline);

private:
    timer timer_;
    bool open_ = false;
};

} // namespace skep
