// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "policy/scaler.hpp"
#include "policy/worker_budget.hpp"
#include "pool/demand/open_calls.hpp"
#include "pool/supply/sizing.hpp"
#include "pool/supply/suspension.hpp"
#include "telemetry/log.hpp"

namespace skep {

/// Checks the load at intervals and when callers wait, and adds or removes workers. On the pool's strand.
class autoscaler {
public:
    autoscaler(const worker_surroundings& surroundings, open_calls& calls, roster& workers,
               const suspension& suspended, const pool_log& log, worker_share share);

    /// Runs until cancelled. A pool of fixed size costs nothing.
    asio::awaitable<void> run();

    /// To be called after any step that may leave callers waiting.
    void on_waiting();

    /// Lets run() check at once: the conditions for scaling have changed.
    void wake() { wake_.open(); }

    bool may_grow() const noexcept { return wants_more() && roster_.desired() < most_workers(); }

    asio::awaitable<void> resize(size_limits limits);

    /// A worker has ended. If the worker was surplus, other pools may take its place.
    void on_ended() noexcept { adjust_share(); }

    /// The pool has ended: releases its places to other pools, and takes no place any more when its own
    /// workers end later.
    void release_share() noexcept { share_ = worker_share(); }

    void count(pool_counters& counters) const noexcept;

private:
    bool wants_more() const noexcept { return roster_.desired() < scaler_.limits().max; }
    bool is_on() const noexcept { return scaler_.is_on() && !suspension_.is_on(); }
    std::size_t most_workers() const noexcept;
    std::size_t grow_to(std::size_t target_size) noexcept;
    void adjust_share() noexcept;
    void evaluate(time_point now);
    void publish_scaled(std::size_t old_size, std::size_t new_size, const std::string& reason) const;
    double utilisation(time_point now);
    time_point next_check() const;

    const worker_surroundings& surroundings_;
    const pool_config& config_;
    open_calls& calls_;
    roster& roster_;
    sizing sizing_;
    const suspension& suspension_;
    const pool_log& log_;
    worker_share share_;
    scaler scaler_;
    latch wake_;
    time_point last_look_;
    time_point armed_ = time_point::max(); ///< time of the next check
    duration work_then_{};
    std::uint64_t ups_ = 0;
    std::uint64_t downs_ = 0;
};

} // namespace skep
