// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Publishes events about calls.

#pragma once

#include "runtime/pool_context.hpp"
#include "telemetry/call_recorder.hpp"
#include "worker/worker.hpp"
#include <skep/errc.hpp>
#include <skep/pool_config.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>

namespace skep {

/// Returns the worker's correlation id for a running call; otherwise the request's, possibly empty.
inline std::string correlation_id_of(const call& subject) {
    const bool is_at_worker = subject.state == call_state::running && subject.id != 0;
    return is_at_worker ? subject.assigned_worker->calls().correlation_id_of(subject)
                        : subject.req.correlation_id();
}

inline void publish_enqueued(const pool_context& context, const std::string& pool, const call& waiting_call,
                             std::size_t depth) {
    context.publish<events::queue_enqueued>([&] {
        return events::queue_enqueued{pool, waiting_call.req.command(), waiting_call.req.correlation_id(),
                                      depth};
    });
}

inline void publish_saturated(const pool_context& context, const pool_config& config, std::size_t depth) {
    context.publish<events::pool_saturated>([&] {
        return events::pool_saturated{config.name, depth, config.queue.limit};
    });
}

inline void publish_dequeued(const pool_context& context, const std::string& pool, const call& next,
                             std::size_t depth) {
    context.publish<events::queue_dequeued>([&] {
        return events::queue_dequeued{pool, next.req.command(), next.req.correlation_id(),
                                      context.now() - next.submitted, depth};
    });
}

/// Publishes that a waiting call fails with `code`.
inline void publish_left_queue(const pool_context& context, const std::string& pool, const call& waiting_call,
                               errc code) {
    const auto describe = [&]<class Event>(std::type_identity<Event>) {
        return Event{pool, waiting_call.req.command(), waiting_call.req.correlation_id(),
                     context.now() - waiting_call.submitted};
    };
    if (code == errc::cancelled) {
        context.publish<events::queue_cancelled>(
            [&] { return describe(std::type_identity<events::queue_cancelled>()); });
    } else if (code == errc::queue_timeout || code == errc::timeout || code == errc::no_worker ||
               code == errc::no_node) {
        context.publish<events::queue_timeout>(
            [&] { return describe(std::type_identity<events::queue_timeout>()); });
    }
}

/// Publishes that the call is at its worker.
inline void publish_started(const pool_context& context, const call& sent_call) {
    context.publish<events::request_started>([&] {
        return events::request_started{sent_call.assigned_worker->id(),
                                       sent_call.req.command(),
                                       correlation_id_of(sent_call),
                                       sent_call.req.session(),
                                       sent_call.dispatched - sent_call.submitted,
                                       sent_call.attempts,
                                       sent_call.assigned_worker->node()};
    });
}

inline time_spent time_spent_at(const call& ended_call, time_point now) noexcept {
    if (ended_call.attempts == 0) {
        return {now - ended_call.submitted, {}, now - ended_call.submitted};
    }
    return {ended_call.dispatched - ended_call.submitted, now - ended_call.dispatched,
            now - ended_call.submitted};
}

/// Publishes the end of a call, just before its end. `code`: its error; empty on success.
inline void publish_finished(const pool_context& context, const std::string& pool, const call& ended_call,
                             const time_spent& times, const std::optional<errc>& code) {
    context.publish<events::request_finished>([&] {
        const bool is_at_worker = ended_call.state == call_state::running;
        return events::request_finished{pool,
                                        is_at_worker ? ended_call.assigned_worker->id() : worker_id(),
                                        ended_call.req.command(),
                                        correlation_id_of(ended_call),
                                        ended_call.req.session(),
                                        times.queue_time,
                                        times.run_time.value_or(duration::zero()),
                                        times.total_time,
                                        ended_call.attempts,
                                        code ? std::string(to_string(*code)) : "ok",
                                        is_at_worker ? ended_call.assigned_worker->node() : std::string()};
    });
}

/// Publishes the failure of a call. `exception_type`: of the worker's exception; empty for other failures.
inline void publish_failure(const pool_context& context, const std::string& pool, const call& failed_call,
                            const time_spent& times, errc code, const std::string& exception_type) {
    context.publish<events::request_failed>([&] {
        const bool is_at_worker = failed_call.state == call_state::running;
        return events::request_failed{pool,
                                      is_at_worker ? failed_call.assigned_worker->id() : worker_id(),
                                      failed_call.req.command(),
                                      correlation_id_of(failed_call),
                                      failed_call.req.session(),
                                      times.total_time,
                                      failed_call.attempts,
                                      std::string(to_string(code)),
                                      exception_type,
                                      is_at_worker ? failed_call.assigned_worker->node() : std::string()};
    });
}

} // namespace skep
