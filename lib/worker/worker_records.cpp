// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/worker_records.hpp"

#include <chrono>
#include <utility>

namespace skep {

worker_records::worker_records(const pool_context& context, const output_options& options,
                               const worker_id& teller)
    : context_(context), teller_(teller), limit_(options.lines_per_second, context.now()) {}

bool worker_records::admit() noexcept {
    const bool is_admitted = limit_.admit(context_.now());
    dropped_ += is_admitted ? 0 : 1;
    return is_admitted;
}

void worker_records::take(event_message& told) {
    if (!admit()) {
        return;
    }
    tell_span(told);
    context_.tell<events::worker_emitted>([&] {
        return events::worker_emitted{teller_,
                                      std::move(told.name),
                                      std::move(told.measurements),
                                      std::move(told.metadata),
                                      std::move(told.correlation_id),
                                      told.dropped + dropped_};
    });
}

/// What skep.span() tells, in a call that is traced.
void worker_records::tell_span(const event_message& told) const {
    if (!told.span) {
        return;
    }
    context_.tell<events::span>([&] {
        events::span span;
        span.pool = teller_.pool;
        span.worker = teller_;
        span.what = told.name;
        span.kind = "internal";
        span.trace_id = told.span->trace_id;
        span.span_id = told.span->span_id;
        span.parent_id = told.span->parent_id;
        span.start_time = std::chrono::system_clock::time_point(told.span->start);
        span.time = told.span->time;
        span.outcome = told.span->outcome;
        span.correlation_id = told.correlation_id;
        span.attributes = told.metadata;
        return span;
    });
}

} // namespace skep
