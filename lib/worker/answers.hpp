// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/worker_messages.hpp"
#include "worker/worker.hpp"

namespace skep {

/// What a worker has answered a call with, as its caller gets it.
inline reply reply_to(const call& answered, const worker& sender, result_message& answer, time_point now) {
    return {.value = std::move(answer.value),
            .attachments = std::move(answer.attachments),
            .worker = sender.id(),
            .correlation_id = sender.correlation_id_of(answered),
            .queue_time = answered.dispatched - answered.submitted,
            .run_time = now - answered.dispatched,
            .attempts = answered.attempts};
}

inline error_info remote_failure(const worker& sender, const call& answered, error_message& answer) {
    error_info info;
    info.worker = sender.id();
    info.correlation_id = sender.correlation_id_of(answered);
    info.remote_type = std::move(answer.type);
    info.remote_message = std::move(answer.message);
    info.remote_traceback = std::move(answer.traceback);
    info.remote_code = std::move(answer.code);
    info.remote_data = std::move(answer.data);
    return info;
}

} // namespace skep
