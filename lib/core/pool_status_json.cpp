// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/exact_ms.hpp"
#include "core/link_counters_json.hpp"
#include <skep/pool_status.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace skep {

namespace json = boost::json;

namespace {

std::int64_t milliseconds(duration span) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
}

json::object to_json(const transition& change) {
    json::object result{{"from", to_string(change.from)},
                        {"to", to_string(change.to)},
                        {"code", to_string(change.code)},
                        {"reason", change.reason},
                        {"time_in_state_ms", milliseconds(change.time_in_state)},
                        {"at_ms", milliseconds(change.at.time_since_epoch())},
                        {"count", change.count}};
    if (!change.metadata.empty()) {
        result["metadata"] = change.metadata;
    }
    return result;
}

json::object to_json(const running_call& call) {
    json::object result{{"command", call.command},
                        {"correlation_id", call.correlation_id},
                        {"running_ms", milliseconds(call.run_time)}};
    if (!call.session.empty()) {
        result["session"] = call.session;
    }
    return result;
}

json::object to_json(const probe_result& probe) {
    return {{"at_ms", milliseconds(probe.at.time_since_epoch())},
            {"took_ms", milliseconds(probe.took)},
            {"passed", probe.passed},
            {"complaint", probe.complaint},
            {"value", probe.value}};
}

json::object to_json(const worker_status& worker);
json::object to_json(const node_view& node);

template <class Item>
json::array list_of(const std::vector<Item>& items) {
    json::array list;
    for (const auto& each : items) {
        list.push_back(to_json(each));
    }
    return list;
}

json::object to_json(const worker_status& worker) {
    json::object result{{"id", to_string(worker.id)},
                        {"pid", worker.pid},
                        {"state", to_string(worker.state)},
                        {"health", to_string(worker.health)},
                        {"availability", to_string(worker.availability)},
                        {"retiring", worker.retiring},
                        {"load", worker.load},
                        {"capacity", worker.capacity},
                        {"leased", worker.leased},
                        {"sessions", worker.sessions},
                        {"strict_sessions", worker.strict_sessions},
                        {"completed", worker.completed},
                        {"errors", worker.errors},
                        {"uptime_ms", milliseconds(worker.uptime)},
                        {"updated_at_ms", milliseconds(worker.updated_at.time_since_epoch())},
                        {"resident_bytes", worker.resident_bytes}};
    if (worker.started_at) {
        result["started_at_ms"] = milliseconds(worker.started_at->time_since_epoch());
    }
    result["calls"] = list_of(worker.calls);
    result["transitions"] = list_of(worker.transitions);
    if (worker.last_transition) {
        result["last_transition"] = to_json(*worker.last_transition);
    }
    if (worker.recycle_in) {
        result["recycle_in_ms"] = milliseconds(*worker.recycle_in);
    }
    if (!worker.waits_to_leave.empty()) {
        result["waits_to_leave"] = worker.waits_to_leave;
    }
    if (worker.held_for) {
        result["held_for_ms"] = milliseconds(*worker.held_for);
    }
    if (!worker.last_failure.empty()) {
        result["last_failure"] = worker.last_failure;
    }
    if (worker.last_probe) {
        result["last_probe"] = to_json(*worker.last_probe);
    }
    if (!worker.loop.empty()) {
        result["loop"] = worker.loop;
    }
    if (worker.shared_bytes) {
        result["shared_bytes"] = *worker.shared_bytes;
    }
    if (!worker.node.empty()) {
        result["node"] = worker.node;
    }
    return result;
}

json::object to_json(const node_view& node) {
    json::object result{{"name", node.name},          {"epoch", node.epoch}, {"state", to_string(node.state)},
                        {"places", node.places},      {"calls", node.calls}, {"own_calls", node.own_calls},
                        {"ejections", node.ejections}};
    if (node.worker) {
        result["worker"] = to_string(*node.worker);
    }
    if (node.round_trip > duration::zero()) {
        result["round_trip_ms"] = exact_ms(node.round_trip);
    }
    if (node.ejected_for) {
        result["ejected_for_ms"] = milliseconds(*node.ejected_for);
    }
    return result;
}

json::object to_json(const remote_status& remote) {
    return {{"is_connected", remote.is_connected},
            {"reconnects", remote.reconnects},
            {"links", to_json(remote.links)},
            {"nodes", list_of(remote.nodes)}};
}

json::object to_json(const template_status& preload) {
    json::object result{{"pid", preload.pid},
                        {"state", to_string(preload.state)},
                        {"forks", preload.forks},
                        {"templates", preload.templates},
                        {"preload_time_ms", milliseconds(preload.preload_time)}};
    if (!preload.objections.empty()) {
        result["objections"] = json::array(preload.objections.begin(), preload.objections.end());
    }
    return result;
}

json::object to_json(const pool_counters& counters) {
    return {{"submitted", counters.submitted},
            {"succeeded", counters.succeeded},
            {"failed", counters.failed},
            {"waited", counters.waited},
            {"remote_errors", counters.remote_errors},
            {"rejected", counters.rejected},
            {"queue_timeouts", counters.queue_timeouts},
            {"timeouts", counters.timeouts},
            {"cancelled", counters.cancelled},
            {"retried", counters.retried},
            {"recalled", counters.recalled},
            {"late_answers", counters.late_answers},
            {"retries_denied", counters.retries_denied},
            {"poisonous", counters.poisonous},
            {"workers_started", counters.workers_started},
            {"workers_lost", counters.workers_lost},
            {"workers_replaced", counters.workers_replaced},
            {"workers_recycled", counters.workers_recycled},
            {"workers_removed", counters.workers_removed},
            {"unhealthy_workers_terminated", counters.unhealthy_workers_terminated},
            {"crashes", counters.crashes},
            {"start_failures", counters.start_failures},
            {"scale_ups", counters.scale_ups},
            {"scale_downs", counters.scale_downs},
            {"missed_pings", counters.missed_pings},
            {"output_lines_dropped", counters.output_lines_dropped},
            {"attachments_lent", counters.attachments_lent},
            {"attachments_passed", counters.attachments_passed},
            {"attachments_received", counters.attachments_received},
            {"shared_results", counters.shared_results},
            {"shared_fallbacks", counters.shared_fallbacks},
            {"busy_answers", counters.busy_answers}};
}

/// Leaves out the output of the worker, which may contain anything.
json::object to_json(const error_info& failure) {
    json::object result{{"detail", failure.detail}, {"pid", failure.pid}};
    if (failure.worker) {
        result["worker"] = to_string(*failure.worker);
    }
    if (!failure.program.empty()) {
        result["program"] = failure.program;
    }
    if (failure.status.known()) {
        result["status"] = to_string(failure.status);
    }
    result["exit_class"] = to_string(failure.exit_kind);
    return result;
}

} // namespace

json::object to_json(const pool_status& status) {
    json::object result{{"name", status.name},
                        {"phase", to_string(status.phase)},
                        {"suspended", status.suspended},
                        {"desired", status.desired},
                        {"live", status.live},
                        {"starting", status.starting},
                        {"retiring", status.retiring},
                        {"queued", status.queued},
                        {"oldest_wait_ms", milliseconds(status.oldest_wait)},
                        {"in_flight", status.in_flight},
                        {"leases", status.leases},
                        {"sessions", status.sessions},
                        {"breaker", to_string(status.breaker)},
                        {"restarts_left", status.restarts_left},
                        {"retry_tokens", status.retry_tokens}};
    if (status.last_failure) {
        result["last_failure"] = to_json(*status.last_failure);
    }
    result["workers"] = list_of(status.workers);
    result["counters"] = to_json(status.counters);
    if (status.remote) {
        result["remote"] = to_json(*status.remote);
    }
    if (status.preload) {
        result["preload"] = to_json(*status.preload);
    }
    return result;
}

} // namespace skep
