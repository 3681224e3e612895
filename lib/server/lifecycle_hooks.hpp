// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "server/commands.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <string_view>

namespace skep {

inline constexpr int exit_failed = 1;

/// Runs a worker's start and stop hooks. A failed hook decides the process's exit status. Used on the strand.
class lifecycle_hooks {
public:
    /// `report` gets a text on each failure.
    lifecycle_hooks(const strand& executor, const work& worker_functions,
                    std::function<void(std::string_view)> report);

    /// Runs the start hooks. Returns false if a hook failed or was interrupted: later hooks then do not run.
    asio::awaitable<bool> start();

    /// Cancels the running start hook.
    void interrupt() { starting_.cancel(); }

    /// Runs every stop hook, the last hook first.
    asio::awaitable<void> stop();

    int exit_status() const noexcept { return exit_status_; }

private:
    asio::awaitable<void> run_start_hooks();
    void fail(const char* hook_name, const std::exception_ptr& problem);

    const work& work_;
    std::function<void(std::string_view)> report_;
    task_group starting_;
    bool has_started_ = false;
    int exit_status_ = 0;
};

} // namespace skep
