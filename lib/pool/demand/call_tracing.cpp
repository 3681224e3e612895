// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/call_tracing.hpp"

#include "core/exact_ms.hpp"
#include "core/text.hpp"
#include "core/trace_context.hpp"
#include "pool/demand/call_events.hpp"

#include <chrono>
#include <limits>
#include <memory>
#include <utility>

namespace skep {

namespace {

std::optional<trace_context> parent_in(const boost::json::object& metadata) {
    const auto* const header = metadata.if_contains(traceparent_key);
    return header != nullptr && header->is_string() ? parse_traceparent(header->get_string()) : std::nullopt;
}

/// Returns true for that share of the ids, because ids are evenly spread.
bool is_in(double share, std::uint64_t id) noexcept {
    constexpr double all = static_cast<double>(std::numeric_limits<std::uint64_t>::max());
    return static_cast<double>(id) < share * all || share >= 1;
}

/// Returns the fields common to both spans of a call.
events::span common_of(const std::string& pool, const call& ended_call, const std::optional<errc>& code) {
    events::span span;
    span.pool = pool;
    span.what = to_utf8(ended_call.req.command());
    span.trace_id = ended_call.ties->trace->trace_id;
    span.outcome = code ? std::string(to_string(*code)) : "ok";
    span.correlation_id = to_utf8(correlation_id_of(ended_call));
    if (ended_call.state == call_state::running) {
        span.worker = ended_call.assigned_worker->id();
        span.node = ended_call.assigned_worker->node();
    }
    return span;
}

void set_times(events::span& span, std::chrono::system_clock::time_point end, duration time) {
    span.start_time = end - std::chrono::duration_cast<std::chrono::microseconds>(time);
    span.time = time;
}

events::span span_of_call(events::span common, const call& ended_call, const time_spent& times) {
    common.kind = "client";
    common.span_id = ended_call.ties->trace->call_id;
    common.parent_id = ended_call.ties->trace->parent_id;
    common.attributes["queue_ms"] = exact_ms(times.queue_time);
    common.attributes["attempts"] = ended_call.attempts;
    if (ended_call.has_session()) {
        common.attributes["session"] = to_utf8(ended_call.req.session());
    }
    return common;
}

events::span span_of_run(events::span common, const call& ended_call) {
    common.kind = "server";
    common.span_id = ended_call.ties->trace->run_id;
    common.parent_id = ended_call.ties->trace->call_id;
    return common;
}

events::span span_of_batch(events::span common, const batch_trace& trace) {
    common.kind = "internal";
    common.what = "batch " + common.what;
    common.trace_id = trace.trace_id;
    common.span_id = trace.span_id;
    common.correlation_id.clear();
    common.outcome = "ok"; // each call has its own
    common.attributes["batch_size"] = trace.size;
    common.links = trace.links;
    return common;
}

} // namespace

void begin_trace(call& new_call, const pool_context& context, double share) {
    if (!context.make_span_id || !context.events || !context.events->wants<events::span>()) {
        return;
    }
    auto parent = parent_in(new_call.req.metadata());
    if (parent && !parent->is_sampled) {
        return;
    }
    const auto chance = context.make_span_id();
    trace_context place;
    place.span_id = to_span_id(chance);
    place.is_sampled = parent || is_in(share, chance);
    place.trace_id =
        parent ? std::move(parent->trace_id) : to_span_id(context.make_span_id()) + place.span_id;
    if (place.is_sampled) {
        auto trace = std::make_unique<call_trace>();
        trace->trace_id = place.trace_id;
        trace->parent_id = parent ? std::move(parent->span_id) : std::string();
        trace->call_id = to_span_id(context.make_span_id());
        trace->run_id = place.span_id;
        if (!new_call.ties) {
            new_call.ties = std::make_unique<call_ties>();
        }
        new_call.ties->trace = std::move(trace);
    }
    new_call.place_in_trace(to_traceparent(place), !parent);
}

void begin_batch_trace(const std::vector<call*>& batch, const pool_context& context) {
    std::shared_ptr<batch_trace> trace;
    for (auto* const each : batch) {
        if (!each->ties || !each->ties->trace) {
            continue;
        }
        auto& own = *each->ties->trace;
        if (!trace) {
            trace = std::make_shared<batch_trace>();
            trace->trace_id = to_span_id(context.make_span_id()) + to_span_id(context.make_span_id());
            trace->span_id = to_span_id(context.make_span_id());
            trace->size = batch.size();
            trace->begin = each->dispatched;
        }
        trace->links.push_back({{"trace_id", own.trace_id}, {"span_id", own.run_id}});
        own.batch = trace;
    }
}

void publish_spans(const pool_context& context, const std::string& pool, const call& ended_call,
                   const time_spent& times, const std::optional<errc>& code) noexcept {
    if (!ended_call.ties || !ended_call.ties->trace) {
        return;
    }
    const auto end = context.wall_now();
    const auto batch = std::move(ended_call.ties->trace->batch);
    const auto publish = [&](duration time, auto make) {
        context.publish<events::span>([&] {
            auto span = make(common_of(pool, ended_call, code));
            if (batch && span.kind != "internal") {
                span.attributes["batch_size"] = batch->size;
            }
            set_times(span, end, time);
            return span;
        });
    };
    if (times.run_time) {
        publish(*times.run_time, [&](events::span span) { return span_of_run(std::move(span), ended_call); });
    }
    publish(times.total_time,
            [&](events::span span) { return span_of_call(std::move(span), ended_call, times); });
    const bool is_last = batch && batch.use_count() == 1;
    if (is_last) {
        publish(context.now() - batch->begin,
                [&](events::span span) { return span_of_batch(std::move(span), *batch); });
    }
}

} // namespace skep
