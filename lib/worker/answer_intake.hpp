// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "worker/worker_calls.hpp"
#include "worker/worker_drain.hpp"

namespace skep {

/// Handles the messages about a worker's calls: passes each message on, and updates the worker. An answer
/// removes its call from the worker's calls, and reaches the pool, or the sink of a private call, once. Every
/// function throws protocol_violation if the message does not fit the worker's calls. Used on the pool's
/// strand.
class answer_intake {
public:
    answer_intake(worker_core& core, worker_calls& calls, worker_drain& drain) noexcept
        : core_(core), answers_(core.surroundings.answers), calls_(calls), drain_(drain) {}

    void handle(result_message& result);
    void handle(chunk_message& piece);
    void handle(error_message& error);
    void handle(progress_message& message);
    void handle(tool_call_message& message);
    void handle(recalled_message& message);

private:
    void end_private();
    void count_answer();
    void watch_rest_of_batch(const call& answered_call);
    void watch_begun_in_vain();
    void watch(call& begun_call);

    worker_core& core_;
    answer_handler& answers_;
    worker_calls& calls_;
    worker_drain& drain_;
};

} // namespace skep
