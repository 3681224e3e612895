// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/rate_limit.hpp"
#include "runtime/pool_context.hpp"
#include "wire/worker_messages.hpp"
#include <skep/pool_config.hpp>
#include <skep/worker_id.hpp>

#include <cstdint>

namespace skep {

/// What a worker's code tells of itself: events, spans, log records. As with what it prints, one that says too much is not
/// heard.
class worker_records {
public:
    worker_records(const pool_context& context, const output_options& options, const worker_id& teller);

    /// Whether there is room for one more now. Those that are not admitted are counted.
    bool admit() noexcept;

    /// Tells the subscribers, if it is admitted.
    void take(event_message& told);

    std::uint64_t dropped() const noexcept { return dropped_; }

private:
    void tell_span(const event_message& told) const;

    const pool_context& context_;
    const worker_id& teller_;
    rate_limit limit_;
    std::uint64_t dropped_ = 0;
};

} // namespace skep
