// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/worker_records.hpp"

#include <chrono>
#include <utility>

namespace skep {

/// Whether there is room for one more now. Those that are not admitted are counted.
bool worker_records::admit() noexcept {
    const bool is_admitted = limit_.admit(core_.context.now());
    dropped_ += is_admitted ? 0 : 1;
    return is_admitted;
}

void worker_records::handle(event_message& told) {
    if (!admit()) {
        return;
    }
    publish_span(told);
    core_.context.publish<events::worker_emitted>([&] {
        return events::worker_emitted{core_.id,
                                      std::move(told.name),
                                      std::move(told.measurements),
                                      std::move(told.metadata),
                                      std::move(told.correlation_id),
                                      told.dropped + dropped_};
    });
}

void worker_records::handle(const log_message& said) {
    if (admit()) {
        const std::string_view separator = said.logger.empty() ? "" : ": ";
        for (const std::string_view part : {std::string_view(said.logger), separator,
                                            std::string_view(said.text), std::string_view("\n")}) {
            core_.process->add_to_tail(part); // where a Python program's own handler would have printed it
        }
        core_.surroundings.answers.on_log(core_.self, said);
    }
}

/// What skep.span() tells, in a call that is traced.
void worker_records::publish_span(const event_message& told) const {
    if (!told.span) {
        return;
    }
    core_.context.publish<events::span>([&] {
        events::span span;
        span.pool = core_.id.pool;
        span.worker = core_.id;
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
