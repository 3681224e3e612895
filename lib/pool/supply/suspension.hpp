// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/condition_variable.hpp"
#include "pool/supply/roster.hpp"

namespace skep {

/// Takes workers, or all of them, out of work and back, as the user asks. On the pool's strand.
class suspension {
public:
    suspension(const pool_config& config, roster& workers, condition_variable& change_signal)
        : config_(config), roster_(workers), changed_(change_signal) {}

    /// Whether the pool as a whole is suspended: workers that come up are, too.
    bool is_on() const noexcept { return is_on_; }
    void reset() noexcept { is_on_ = false; }

    // Coroutines of the user's. The first two end when the worker is, or all of those that serve now are drained;
    // cancelling ends the wait only.
    asio::awaitable<void> suspend(worker_id id);
    asio::awaitable<void> suspend_all();
    asio::awaitable<void> resume(worker_id id);
    asio::awaitable<void> resume_all();

    /// Whether any of the workers there are now can be expected to take calls, at once or later.
    bool will_serve() const noexcept;

private:
    bool is_drained(const worker_id& id) const noexcept;
    error resumed() const;

    const pool_config& config_;
    roster& roster_;
    condition_variable& changed_;
    bool is_on_ = false;
};

} // namespace skep
