// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

namespace skep {

/// Owns the coroutines of one object: each task started in it has ended when join() returns. cancel() ends every wait
/// in it, and with that the tasks; that is no error. An exception that leaves a task otherwise goes to `on_error`, which
/// must not throw. What a task refers to is to outlive it: it is the group's owner who joins it before he goes.
/// Used on one strand.
class task_group {
    struct task;
    struct waiter;
    struct state;

public:
    using error_handler = std::function<void(std::exception_ptr)>;

    /// One task of a group.
    class task_handle {
    public:
        task_handle() = default;
        explicit task_handle(std::weak_ptr<task> new_task) noexcept : task_(std::move(new_task)) {}

        /// Ends every wait of the task, if it has not ended.
        void cancel();

    private:
        std::weak_ptr<task> task_;
    };

    task_group(const strand& executor, error_handler on_error);

    /// Starts `task` on the strand, perhaps at once. `owner` stays alive until it has ended.
    task_handle spawn(std::shared_ptr<void> owner, asio::awaitable<void> task);

    /// Ends every wait of the tasks there are, of this one and those to come.
    void cancel();

    /// Waits for every task, or until `deadline`. Several may.
    asio::awaitable<void> join(time_point deadline = time_point::max());

    std::size_t running() const noexcept;

private:
    static void end(state& group, task& ended_task, const std::exception_ptr& problem);

    strand executor_;
    std::shared_ptr<state> state_;
};

} // namespace skep
