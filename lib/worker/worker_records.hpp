// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/rate_limit.hpp"
#include "worker/worker_core.hpp"

#include <cstdint>

namespace skep {

/// Handles the records of a worker's code: events, spans, log records. Records beyond the rate limit for
/// output lines are dropped.
class worker_records {
public:
    explicit worker_records(worker_core& core) noexcept
        : core_(core), limit_(core.config.output.lines_per_second, core.context.now()) {}

    /// Publishes the event to subscribers, if admitted.
    void handle(event_message& message);

    /// Appends the record to the worker's output and passes the record to the pool, if admitted.
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
