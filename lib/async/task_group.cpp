// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/task_group.hpp"

#include <boost/asio/co_spawn.hpp>

namespace skep {

task_group::task_group(const strand& executor, error_handler on_error)
    : executor_(executor), state_(std::make_shared<state>(executor)) {
    state_->on_error = std::move(on_error);
}

void task_group::spawn(std::shared_ptr<void> owner, asio::awaitable<void> task) {
    asio::co_spawn(executor_, std::move(task),
                   [state = state_, owner = std::move(owner)](std::exception_ptr error) {
                       --state->running;
                       state->ended.open();
                       if (error) {
                           state->on_error(error);
                       }
                   });
    ++state_->running; // not before: co_spawn may throw. It never runs the task at once.
}

asio::awaitable<void> task_group::join() {
    while (state_->running > 0) {
        state_->ended.close();
        co_await state_->ended.wait();
    }
}

} // namespace skep
