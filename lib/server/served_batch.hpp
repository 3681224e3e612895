// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "server/served_call.hpp"
#include <skep/batch_command.hpp>

#include <exception>
#include <memory>
#include <vector>

namespace skep {

/// The running calls of a batch, with one handler, behind the handler's batch_calls. Used on the strand,
/// except for immutable members.
class served_batch {
public:
    using async_handler = detail::async_batch_handler;
    using plain_handler = detail::plain_batch_handler;
    using result = std::vector<batch_result>;

    /// Adds a call; before the handler begins.
    void add(std::shared_ptr<served_call> call);

    const std::vector<std::shared_ptr<served_call>>& calls() const noexcept { return calls_; }
    batch_calls face() const noexcept { return faces_; }

    // True if it holds for all calls.
    bool is_cancelled() const noexcept;
    bool was_interrupted() const noexcept;

    void run_by(task_group::task_handle handler) noexcept { handler_ = std::move(handler); }

    /// Interrupts the handler if all calls were interrupted. Called by each call.
    void interrupt_if_abandoned();

    /// Append the answers of all calls.
    void answer(result results);
    void answer(const std::exception_ptr& problem);

private:
    std::vector<std::shared_ptr<served_call>> calls_;
    std::vector<worker_call*> faces_; ///< in the order of the calls
    task_group::task_handle handler_;
};

} // namespace skep
