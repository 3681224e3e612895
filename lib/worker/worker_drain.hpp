// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "worker/worker_core.hpp"

namespace skep {

/// Watches a worker that takes no calls get rid of those it has. A suspended one is drained once it has none but a probe.
/// A retired one is stopped while it can have begun no call that somebody waits for: at once if there is none at all, else
/// once it has answered none for as long as a call that was given up, or a probe, may take. On the pool's strand.
class worker_drain {
public:
    /// The tasks of `service` end before this does.
    worker_drain(worker_core& core, task_group& service) noexcept : core_(core), service_(service) {}

    // The worker has a call less, or has left service or been suspended.
    void end_if_drained();
    void show_suspended();

    /// Both, and its place may be for a probe.
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
