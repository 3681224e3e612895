// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/call_timeouts.hpp"

#include "core/clock.hpp"
#include "core/duration_text.hpp"
#include "core/with_detail.hpp"
#include "worker/worker.hpp"

#include <algorithm>
#include <utility>

namespace skep {

time_point next_check(const call& running_call) {
    if (running_call.stream == nullptr) {
        return running_call.deadline;
    }
    return std::min(running_call.deadline,
                    after_limit(running_call.stream->heard, running_call.stream->idle_timeout));
}

void call_timeouts::on_due(call& due_call, const supply_outlook& supply) {
    switch (due_call.state) {
    case call_state::queued: fail_waiting(due_call, supply); break;
    case call_state::delayed:
        open_.fail(due_call, errc::timeout, with_detail(timeout_detail(facts_of(due_call, supply.shortage))));
        break;
    case call_state::running:
        if (due_call.deadline > context_.now()) {
            check_quiet(due_call);
        } else {
            time_out(due_call, with_detail(timeout_detail(facts_of(due_call, {}))));
        }
        break;
    case call_state::abandoned: check_overdue(due_call); break;
    default: break;
    }
}

/// Fails a call whose time ran out before a worker took the call.
void call_timeouts::fail_waiting(call& waiting_call, const supply_outlook& supply) {
    auto info = with_detail(supply.shortage);
    auto code = errc::queue_timeout;
    if (!room_.places().is_any_up()) {
        code = context_.absent_code();
    } else if (waiting_call.deadline <= context_.now()) {
        code = errc::timeout;
        info = with_detail(timeout_detail(facts_of(waiting_call, supply.shortage)));
    } else if (info.detail.empty()) {
        info.detail = waiting_call.is_leased() ? "the lease's other calls held its places; raise "
                      : waiting_call.slot == slot_to_be_found ? std::string(home_is_missing) + "; raise "
                      : waiting_call.slot                     ? "the worker of its session was busy; raise "
                      : context_.has_nodes                    ? "all were busy; start more nodes, or raise "
                                                              : "all were busy; raise workers, ";
        info.detail += "queue.timeout or the request's queue_timeout";
    }
    open_.leave_queue(waiting_call, code, std::move(info));
}

late_call call_timeouts::facts_of(const call& due_call, std::string shortage) const {
    using enum late_call::position;
    const bool is_running = due_call.state == call_state::running;
    late_call facts;
    facts.where = is_running && due_call.assigned_worker->calls().is_pipelined(due_call) ? pipelined
                  : is_running                                                           ? running
                  : due_call.state == call_state::delayed                                ? delayed
                  : due_call.is_leased()                                                 ? queued_in_lease
                  : due_call.slot == slot_to_be_found                                    ? queued_for_home
                  : due_call.slot                                                        ? queued_for_session
                                                                                         : queued;
    facts.was_lost = due_call.attempts > (is_running ? 1 : 0);
    facts.shortage = std::move(shortage);
    if (is_running) {
        facts.wait_time = due_call.dispatched - due_call.submitted;
        facts.run_time = context_.now() - due_call.dispatched;
    }
    return facts;
}

void call_timeouts::time_out(call& running_call, error_info info) {
    auto& at = *running_call.assigned_worker;
    if (!at.calls().is_pipelined(running_call)) {
        timed_out_.push_back({at.shared_from_this(), &running_call});
    }
    open_.abandon(running_call, errc::timeout, std::move(info));
}

/// No chunk has come for a while. Times out, unless the consumer or a tool is due, or the worker was heard
/// since.
void call_timeouts::check_quiet(call& stream) {
    const auto now = context_.now();
    if (stream.stream->window.is_exhausted() || stream.assigned_worker->calls().is_asking(stream)) {
        stream.stream->heard = now;
    }
    if (next_check(stream) > now) {
        room_.deadlines().set(stream, next_check(stream));
        return;
    }
    time_out(stream, with_detail("no chunk came for " + in_milliseconds(stream.stream->idle_timeout) +
                                 ", its idle_timeout, though the worker might have sent one; yield more "
                                 "often, or raise the idle_timeout"));
}

void call_timeouts::check_overdue(call& abandoned_call) {
    if (abandoned_call.overdue.has_passed(context_.now())) {
        constexpr auto story = "it is still at a call given up cancel_grace ago";
        abandoned_call.assigned_worker->report({departure_cause::overdue_call, story});
    } else {
        room_.deadlines().set(abandoned_call, abandoned_call.overdue.due());
    }
}

} // namespace skep
