// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/worker_records.hpp"

#include <chrono>
#include <utility>

namespace skep {

/// Returns true if the rate limit admits one more record. Rejected records are counted.
bool worker_records::admit() noexcept {
    const bool is_admitted = limit_.admit(core_.context.now());
    dropped_ += is_admitted ? 0 : 1;
    return is_admitted;
}

void worker_records::handle(event_message& message) {
    if (!admit()) {
        return;
    }
    publish_span(message);
    core_.context.publish<events::worker_emitted>([&] {
        return events::worker_emitted{core_.id,
                                      std::move(message.name),
                                      std::move(message.measurements),
                                      std::move(message.metadata),
                                      std::move(message.correlation_id),
                                      message.dropped + dropped_};
    });
}

void worker_records::handle(const log_message& record) {
    if (admit()) {
        const std::string_view separator = record.logger.empty() ? "" : ": ";
        for (const std::string_view part : {std::string_view(record.logger), separator,
                                            std::string_view(record.text), std::string_view("\n")}) {
            core_.process->add_to_tail(part); // a Python program's own handler would have printed there
        }
        core_.surroundings.answers.on_log(core_.self, record);
    }
}

/// Publishes a span of skep.span() in a traced call.
void worker_records::publish_span(const event_message& message) const {
    if (!message.span) {
        return;
    }
    core_.context.publish<events::span>([&] {
        events::span span;
        span.pool = core_.id.pool;
        span.worker = core_.id;
        span.what = message.name;
        span.kind = "internal";
        span.node = core_.node;
        span.trace_id = message.span->trace_id;
        span.span_id = message.span->span_id;
        span.parent_id = message.span->parent_id;
        span.start_time = std::chrono::system_clock::time_point(message.span->start);
        span.time = message.span->time;
        span.outcome = message.span->outcome;
        span.correlation_id = message.correlation_id;
        span.attributes = message.metadata;
        return span;
    });
}

} // namespace skep
