// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/rate_limit.hpp"
#include "worker/worker_core.hpp"

#include <cstdint>

namespace skep {

/// What a worker's code tells of itself: events, spans, log records. As with what it prints, one that says too much is not
/// heard.
class worker_records {
public:
    explicit worker_records(worker_core& core) noexcept
        : core_(core), limit_(core.config.output.lines_per_second, core.context.now()) {}

    /// Tells the subscribers, if it is admitted.
    void handle(event_message& message);

    /// Adds it to what the worker has printed, and tells the pool, if it is admitted.
    void handle(const log_message& record);

    std::uint64_t dropped() const noexcept { return dropped_; }

private:
    bool admit() noexcept;
    void publish_span(const event_message& message) const;

    worker_core& core_;
    rate_limit limit_;
    std::uint64_t dropped_ = 0;
};

} // namespace skep
