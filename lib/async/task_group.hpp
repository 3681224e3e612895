// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

namespace skep {

/// Owns the coroutines of one object: each task has ended when join() returns. cancel() ends every wait of
/// the tasks, and thereby the tasks; an end by cancellation is not an error. Any other exception of a task
/// goes to `on_error`, which must not throw. Objects that a task refers to must outlive the task: the owner
/// must join() before it is destroyed. Used on one strand.
class task_group {
    struct task;
    struct waiter;
    struct state;

public:
    using error_handler = std::function<void(std::exception_ptr)>;

    /// Refers to one task of a group.
    class task_handle {
    public:
        task_handle() = default;
        explicit task_handle(std::weak_ptr<task> new_task) noexcept : task_(std::move(new_task)) {}

        /// Ends every wait of the task if the task is running.
        void cancel();

    private:
        std::weak_ptr<task> task_;
    };

    task_group(const strand& executor, error_handler on_error);

    /// Starts `task` on the strand, perhaps at once. `owner` stays alive until the task has ended.
    task_handle spawn(std::shared_ptr<void> owner, asio::awaitable<void> task);

    /// Ends the current and all later waits of the running tasks.
    void cancel();

    /// Waits for every task, or until `deadline`. Several coroutines may wait.
    asio::awaitable<void> join(time_point deadline = time_point::max());

    std::size_t running() const noexcept;

private:
    static void end(state& group, task& ended_task, const std::exception_ptr& problem);

    strand executor_;
    std::shared_ptr<state> state_;
};

} // namespace skep
