// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/pool_parts.hpp"
#include "pool/pool_start.hpp"
#include <skep/shutdown_report.hpp>

#include <cstddef>
#include <string>

namespace skep {

/// Shuts a pool down: drains calls up to a time limit, or kills at once. On the pool's strand.
class pool_shutdown {
public:
    pool_shutdown(pool_parts& parts, pool_start& start) noexcept : parts_(parts), start_(start) {}

    /// Operation of users. Cancelling ends the wait only.
    asio::awaitable<shutdown_report> shutdown();

    /// The pool object was destroyed: ends everything without waiting for calls.
    void abandon();

    /// Fails queued calls and checkouts that the workers of a stopping pool will not serve.
    void fail_queue_if_hopeless();

    // For the report.
    void on_ended(const worker_exit& end);
    void count_aborted(std::size_t calls) noexcept { report_.calls_aborted += calls; }

    /// The pool has stopped: ends all waits.
    void end() noexcept;

private:
    void begin();
    asio::awaitable<void> run();
    asio::awaitable<void> end_calls_and_workers(time_point start_time);
    std::string describe_stragglers() const;
    std::string describe_state();

    pool_parts& parts_;
    pool_state& state_ = parts_.state;
    const pool_start& start_;
    shutdown_report report_;
    bool kills_at_once_ = false;
};

} // namespace skep
