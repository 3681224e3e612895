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

/// What the user's initialization_delegate does for the pool: before its first worker, and after the end of each. Does
/// nothing where there is none. On the pool's strand.
class pool_hooks {
public:
    pool_hooks(const pool_context& context, const pool_config& config, const pool_log& log);

    /// Why no worker is to be started; empty if they are to be.
    asio::awaitable<std::string> before_first_worker();

    /// The start is not wanted any more: before_first_worker() returns soon.
    void cancel_start() { starters_.cancel(); }

    /// `owner` stays alive until it has ended.
    void after_end(const std::shared_ptr<void>& owner, worker_exit end);

    /// Returns when every after_end() has ended, or has had its time.
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
