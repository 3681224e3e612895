// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/task_group.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/system/system_error.hpp>

namespace skep {

struct task_group::task
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
    void cancel() {
        cancelled = true;
        signal.emit(asio::cancellation_type::terminal);
    }

    asio::cancellation_signal signal;
    bool cancelled = false;
};

/// A coroutine that waits for the tasks.
struct task_group::waiter
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
    explicit waiter(const strand& executor) : ended(executor) {}

    latch ended; ///< a task has ended
};

/// Shared with the tasks and the waiters, because the execution context may destroy them in any order.
struct task_group::state {
    std::size_t running = 0;
    boost::intrusive::list<task, boost::intrusive::constant_time_size<false>> tasks;
    boost::intrusive::list<waiter, boost::intrusive::constant_time_size<false>> waiters;
    error_handler on_error;
};

task_group::task_group(const strand& executor, error_handler on_error)
    : executor_(executor), state_(std::make_shared<state>()) {
    state_->on_error = std::move(on_error);
}

task_group::task_handle task_group::spawn(std::shared_ptr<void> owner, asio::awaitable<void> task_to_run) {
    const auto mine = std::make_shared<task>();
    auto on_end = [group = state_, mine, owner = std::move(owner)](const std::exception_ptr& problem) {
        end(*group, *mine, problem);
    };
    state_->tasks.push_back(*mine); // first: the task may run and end at once
    ++state_->running;
    try {
        asio::co_spawn(executor_, std::move(task_to_run),
                       asio::bind_cancellation_slot(mine->signal.slot(), std::move(on_end)));
    } catch (...) { // out of memory
        mine->unlink();
        --state_->running;
        throw;
    }
    return task_handle(mine);
}

void task_group::end(state& group, task& ended_task, const std::exception_ptr& problem) {
    ended_task.unlink();
    --group.running;
    for (auto& each : group.waiters) {
        each.ended.open();
    }
    if (!problem) {
        return;
    }
    try {
        std::rethrow_exception(problem);
    } catch (const boost::system::system_error& error) {
        if (!ended_task.cancelled || error.code() != asio::error::operation_aborted) {
            group.on_error(problem);
        }
    } catch (...) {
        group.on_error(problem);
    }
}

void task_group::task_handle::cancel() {
    if (const auto running = task_.lock()) {
        running->cancel();
    }
}

std::size_t task_group::running() const noexcept {
    return state_->running;
}

void task_group::cancel() {
    for (auto& each : state_->tasks) { // posted: each task ends later
        each.cancel();
    }
}

asio::awaitable<void> task_group::join(time_point deadline) {
    const auto group = state_;
    waiter mine(executor_);
    group->waiters.push_back(mine);
    while (group->running > 0 && clock::now() < deadline) {
        mine.ended.close();
        co_await mine.ended.wait_until(deadline);
    }
}

} // namespace skep
