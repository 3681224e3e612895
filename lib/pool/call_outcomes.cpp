// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/call_outcomes.hpp"

#include "policy/remote_error.hpp"

namespace skep {

void call_outcomes::on_result(worker& sender, call& answered_call, result_message& answer, time_point now) {
    if (answered_call.state == call_state::running) {
        streaks_.succeeded(sender.id().slot, answered_call.req.command());
    }
    parts_.calls.answers().on_result(sender, answered_call, answer, now);
}

void call_outcomes::on_remote_error(worker& sender, call& answered_call, error_message& answer) {
    if (answered_call.state == call_state::running && may_be_workers_fault(answer.type, answer.code)) {
        record_failed_call(sender, answered_call, answer.type);
    }
    parts_.calls.answers().on_remote_error(sender, answered_call, answer);
}

asio::awaitable<void> call_outcomes::watch_deadlines() {
    auto& deadlines = parts_.calls.room().deadlines();
    for (;;) {
        co_await deadlines.wait();
        parts_.events.catch_up();
        deadlines.notify_due({shortage(), parts_.may_get_more_workers()}, parts_.events);
        for (const auto& each : parts_.calls.timeouts().take_timed_out()) {
            record_failed_call(*each.assigned_worker, *each.abandoned_call, "timeout");
        }
        parts_.scaling.on_waiting();
    }
}

asio::awaitable<void> call_outcomes::watch_batches() {
    auto& room = parts_.calls.room();
    for (;;) {
        co_await room.batches().wait();
        parts_.events.catch_up();
        room.serve_all();
    }
}

void call_outcomes::record_failed_call(worker& call_worker, const call& failed_call,
                                       const std::string& outcome) {
    if (call_worker.life().departure() || !call_worker.calls().record_failure(failed_call)) {
        return;
    }
    const auto& command = failed_call.req.command();
    const auto verdict = streaks_.failed(call_worker.id().slot, command);
    const bool has_own_check = call_worker.health().is_own();
    if (verdict == streak_verdict::none || (verdict == streak_verdict::streak && !has_own_check)) {
        return;
    }
    auto story = verdict == streak_verdict::streak
                     ? "each of its last " + std::to_string(parts_.config.health_check.error_streak) +
                           " calls of '" + command + "' failed"
                     : std::string("it fails many more calls than its siblings");
    story += "; the last one: " + outcome;
    if (verdict == streak_verdict::convict && !has_own_check) {
        call_worker.report({departure_cause::fails_alone, std::move(story)});
    } else if (call_worker.health().can_probe()) {
        call_worker.report({departure_cause::error_streak, std::move(story)});
    }
}

/// Returns why a waiting call has no worker.
std::string call_outcomes::shortage() const {
    if (parts_.suspensions.is_on()) {
        return "the pool is suspended";
    }
    const auto& workers = parts_.workers;
    if (workers.ready() == 0 && parts_.supervision.has_failure()) {
        return parts_.supervision.last_cause().detail;
    }
    if (parts_.context.has_nodes) {
        return {}; // one worker waits for the next node
    }
    const auto idle = workers.out_of_rotation();
    return idle == 0 ? ""
                     : std::to_string(idle) + " of " + std::to_string(workers.desired()) +
                           " workers take no calls: they are degraded, suspended or not up";
}

} // namespace skep
