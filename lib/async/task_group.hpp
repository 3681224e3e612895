// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/gate.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

namespace skep {

/// Owns the coroutines of one object: each task started in it has ended when join() returns. Tasks end
/// because what they wait for is closed by their owner. An exception that leaves a task goes to `on_error`, which must
/// not throw.
/// Used on one strand.
class task_group {
public:
    using error_handler = std::function<void(std::exception_ptr)>;

    task_group(const strand& executor, error_handler on_error);

    /// Starts `task` on the strand. `owner` stays alive until it has ended.
    void spawn(std::shared_ptr<void> owner, asio::awaitable<void> task);

    /// Waits for every task. One caller at a time.
    asio::awaitable<void> join();

    std::size_t running() const noexcept { return state_->running; }

private:
    struct state {
        explicit state(const strand& executor) : ended(executor) {}

        std::size_t running = 0;
        gate ended;
        error_handler on_error;
    };

    strand executor_;
    std::shared_ptr<state> state_;
};

} // namespace skep
