// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "worker/worker_core.hpp"

namespace skep {

/// Drains a worker that takes no calls. A suspended worker is drained once it has no call except a probe. A
/// retired worker is stopped while it can have begun no awaited call: at once if no caller waits for any
/// call; otherwise once it has not answered for as long as an abandoned call, or a probe, may take. Used on
/// the pool's strand.
class worker_drain {
public:
    /// The tasks of `service` must end before the worker_drain is destroyed.
    worker_drain(worker_core& core, task_group& service) noexcept : core_(core), service_(service) {}

    // Called when the worker has a call less, leaves service or is suspended.
    void end_if_drained();
    void show_suspended();

    /// Calls both, and wakes a waiting probe.
    void follow_answer() {
        if (!core_.life.takes_calls()) {
            advance();
        }
    }

private:
    void advance();
    duration patience_for_first() const noexcept;
    asio::awaitable<void> linger();

    worker_core& core_;
    task_group& service_;
    bool is_lingering_ = false;
};

} // namespace skep
