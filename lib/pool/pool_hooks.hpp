// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/guest_group.hpp"
#include "runtime/pool_context.hpp"
#include "telemetry/log.hpp"
#include <skep/pool_config.hpp>
#include <skep/shutdown_report.hpp>

#include <string>

namespace skep {

/// Calls the user's initialization_delegate: before the first worker, and after the end of each worker. Does
/// nothing without a delegate. On the pool's strand.
class pool_hooks {
public:
    pool_hooks(const pool_context& context, const pool_config& config, const pool_log& log);

    /// Returns why no worker may be started; empty if workers may start.
    asio::awaitable<std::string> before_first_worker();

    /// Cancels the start: before_first_worker() returns soon.
    void cancel_start() { starters_.cancel(); }

    /// Begins the delegate's after_end(). `owner` stays alive until its end.
    void after_end(const std::shared_ptr<void>& owner, worker_exit end);

    /// Waits until every after_end() has ended or timed out.
    asio::awaitable<void> join() { return farewells_.join(); }

private:
    asio::awaitable<void> say_farewell(worker_exit end);
    patient_deadline deadline_in(duration limit) const { return {after_limit(context_.now(), limit), limit}; }

    const pool_context& context_;
    const initialization_options& options_;
    const pool_log& log_;
    guest_group starters_;
    guest_group enders_;
    task_group farewells_;
};

} // namespace skep
