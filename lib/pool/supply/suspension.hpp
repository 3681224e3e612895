// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/condition_variable.hpp"
#include "core/relaxed_value.hpp"
#include "pool/supply/roster.hpp"

namespace skep {

/// Suspends and resumes workers, or the whole pool, on request of the user. On the pool's strand.
class suspension {
public:
    suspension(const pool_config& config, roster& workers, condition_variable& change_signal)
        : config_(config), roster_(workers), changed_(change_signal) {}

    /// Returns true if the whole pool is suspended: workers that come up are suspended, too. Thread
    /// safety: may be called from any thread.
    bool is_on() const noexcept { return is_on_; }

    // Operations of users. suspend() and suspend_all() return when the worker, or every worker now in
    // service, is drained. Cancelling ends the wait only.
    asio::awaitable<void> suspend(worker_id id);
    asio::awaitable<void> suspend_all();
    asio::awaitable<void> resume(worker_id id);
    asio::awaitable<void> resume_all();

    /// Returns true if one of the present workers may take calls, now or later.
    bool will_serve() const noexcept;

private:
    bool is_drained(const worker_id& id) const noexcept;
    error resumed() const;

    const pool_config& config_;
    roster& roster_;
    condition_variable& changed_;
    relaxed_value<bool> is_on_;
};

} // namespace skep
