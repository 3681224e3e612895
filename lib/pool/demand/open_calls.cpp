// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/open_calls.hpp"

#include "core/clock.hpp"
#include "pool/demand/call_events.hpp"
#include "pool/demand/call_tracing.hpp"

#include <algorithm>
#include <utility>

namespace skep {

open_calls::open_calls(const worker_surroundings& surroundings, waiting_room& room, session_router& sessions)
    : config_(surroundings.config),
      context_(surroundings.context),
      room_(room),
      sessions_(sessions),
      figures_(config_.metrics),
      drained_(context_.executor) {}

void open_calls::enqueue(call& waiting_call, bool at_front, time_point now) {
    const auto limit = waiting_call.req.queue_timeout().value_or(config_.queue.timeout);
    room_.deadlines().set(waiting_call, std::min(waiting_call.deadline, after_limit(now, limit)));
    waiting_call.state = call_state::queued;
    if (auto* const lease = lease_of(waiting_call)) {
        room_.join(waiting_call, *lease);
    } else {
        if (at_front) {
            room_.join_first(waiting_call);
        } else {
            room_.join(waiting_call);
        }
    }
    publish_enqueued(context_, config_.name, waiting_call, room_.waiting_with(waiting_call));
}

void open_calls::begin(call& next, worker& target, time_point now) {
    if (next.state == call_state::queued) {
        publish_dequeued(context_, config_.name, next, room_.waiting_with(next));
    }
    next.state = call_state::running;
    next.assigned_worker = &target;
    next.id = 0; // none assigned yet
    next.dispatched = now;
    ++next.attempts;
    running_.begin(next);
}

void open_calls::recall(call& recalled_call, time_point now) {
    running_.end(recalled_call, now);
    --recalled_call.attempts;
    ++counters_.recalled;
    enqueue(recalled_call, true, now);
}

void open_calls::take_back(call& lost_call, time_point now) {
    running_.end(lost_call, now);
    ++counters_.retried;
}

void open_calls::delay(call& lost_call, duration wait) {
    lost_call.state = call_state::delayed;
    delayed_.push_back(&lost_call);
    room_.deadlines().set(lost_call, std::min(lost_call.deadline, context_.now() + wait));
}

void open_calls::resume(call& delayed_call) {
    const auto keep = delayed_.remove(delayed_call);
    enqueue(delayed_call, true, context_.now());
}

void open_calls::succeed(call& answered_call, time_point now) {
    ++counters_.succeeded;
    record_end(answered_call, now, std::nullopt);
    close_out(answered_call, now);
}

void open_calls::fail(call& failed_call, errc code, error_info info) {
    const call_ptr keep(&failed_call);
    const auto now = context_.now();
    info.pool = config_.name;
    info.command = failed_call.req.command();
    info.attempts = failed_call.attempts + std::max(info.attempts - 1, 0); // at a node: its further workers
    if (info.correlation_id.empty()) {
        info.correlation_id = correlation_id_of(failed_call);
    }
    const bool names_load_of_node = info.queue_depth + info.running_calls > 0;
    if (!names_load_of_node) {
        info.queue_depth = room_.queue().size();
        describe_load(info, now);
    }
    info.wait_time += (failed_call.attempts > 0 ? failed_call.dispatched : now) - failed_call.submitted;
    publish_failed(failed_call, code);
    publish_failure(context_, config_.name, failed_call, time_spent_at(failed_call, now), code,
                    info.remote_type);
    lazy_error failure(code, std::move(info));
    count_failure(code);
    record_end(failed_call, now, code);
    close_out(failed_call, now);
    waiting_room::close(failed_call);
    failed_call.sink->put_failure(std::move(failure));
}

void open_calls::leave_queue(call& waiting_call, errc code, error_info info) {
    const bool has_held_up_others = !waiting_call.is_pipelinable;
    fail(waiting_call, code, std::move(info));
    if (has_held_up_others) {
        room_.serve_all();
    }
}

void open_calls::abandon(call& running_call, errc code, error_info info) {
    const call_ptr keep(&running_call);
    auto& at = *running_call.assigned_worker;
    if (!info.worker) { // otherwise pid and status belong to the worker that caused the error
        info.worker = at.id();
        info.node = at.node();
    }
    const bool uses_session = std::exchange(running_call.uses_session, false);
    fail(running_call, code, std::move(info));
    running_call.uses_session = uses_session; // until the worker is done with it
    running_call.state = call_state::abandoned;
    at.calls().cancel(running_call);
    // A pipelined call is skipped by the worker. A call of a batch does not end before the others.
    if (!at.calls().is_pipelined(running_call) && at.calls().is_place_deserted(running_call)) {
        grant_grace(running_call);
    }
}

/// All calls of a batch have the grace: the worker may answer them in any order.
void open_calls::grant_grace(call& abandoned_call) {
    abandoned_call.assigned_worker->calls().for_each_in_place(abandoned_call,
                                                              [this](call& each) { set_overdue(each); });
}

void open_calls::set_overdue(call& abandoned_call) {
    abandoned_call.overdue = {context_.now() + config_.cancel_grace, config_.cancel_grace};
    room_.deadlines().set(abandoned_call, abandoned_call.overdue.due());
}

void open_calls::end_abandoned(call& abandoned_call) {
    abandoned_call.state = call_state::done;
    sessions_.end_use(abandoned_call);
    room_.deadlines().remove(abandoned_call);
}

void open_calls::break_off(call& broken_call, const error& cause) noexcept {
    const auto now = context_.now();
    count_failure(cause.kind());
    publish_failure(context_, config_.name, broken_call, time_spent_at(broken_call, now), cause.kind(), {});
    record_end(broken_call, now, cause.kind());
    broken_call.state = call_state::done;
    sessions_.end_use(broken_call);
    broken_call.sink->put_failure(lazy_error(cause));
}

std::size_t open_calls::fail_queue(errc code, const error_info& info) {
    const auto count = queued();
    while (!room_.queue().empty()) {
        fail(static_cast<call&>(room_.queue().oldest()), code, info);
    }
    while (!delayed_.empty()) {
        fail(delayed_.front(), code, info);
    }
    room_.leases().for_each([&](lease_claim& each) { fail_waiting_in(each, code, info); });
    return count;
}

void open_calls::fail_waiting_in(lease_claim& lease, errc code, const error_info& info) {
    while (!lease.waiting.empty()) {
        fail(lease.waiting.front(), code, info);
    }
}

void open_calls::abandon_running_in(const lease_claim& lease, errc code) {
    running_.for_each([&](call& each) {
        if (lease_of(each) == &lease) {
            abandon(each, code);
        }
    });
}

std::size_t open_calls::abort_all(errc code) {
    const auto count = running_.size() + fail_queue(code, {});
    abort_running(code);
    return count;
}

void open_calls::abort_running(errc code, const error_info& info) {
    while (!running_.empty()) {
        abandon(running_.front(), code, info);
    }
}

void open_calls::drop_callers() noexcept {
    while (const auto each = room_.close_first()) {
        each->forget();
    }
}

std::size_t open_calls::break_down(const error& cause) noexcept {
    const auto before = counters_.failed;
    room_.deadlines().clear(); // first: the heap holds no references, and a claim between two lists may end
    while (const auto each = room_.close_first()) {
        each->holder->on_breakdown(*each, cause);
    }
    room_.clear();
    delayed_.clear();
    running_.clear();
    drained_.open();
    return counters_.failed - before;
}

asio::awaitable<void> open_calls::drain(time_point limit) {
    bool in_time = true;
    while (in_time && queued() + running_.size() > 0) {
        drained_.close();
        in_time = co_await drained_.wait_until(limit);
    }
}

/// Describes the load that keeps waiting calls from being served.
void open_calls::describe_load(error_info& info, time_point now) {
    info.running_calls = running_.size();
    if (!running_.empty()) {
        const auto& oldest = running_.front();
        info.oldest_command = oldest.req.command();
        info.oldest_run_time = now - oldest.dispatched;
    }
}

void open_calls::publish_failed(const call& failed_call, errc code) const {
    if (failed_call.state == call_state::queued) {
        publish_left_queue(context_, config_.name, failed_call, code);
    }
    if (code == errc::pool_saturated) {
        publish_saturated(context_, config_, room_.waiting_with(failed_call));
    }
}

void open_calls::record_end(const call& ended_call, time_point now,
                            const std::optional<errc>& code) noexcept {
    const auto times = time_spent_at(ended_call, now);
    figures_.record(ended_call.req.command(), times, code);
    if (context_.has_nodes && ended_call.state == call_state::running) {
        figures_.record_at_node(ended_call.assigned_worker->node(), code);
    }
    publish_finished(context_, config_.name, ended_call, times, code);
    publish_spans(context_, config_.name, ended_call, times, code);
}

void open_calls::record_batch(const call& first, std::size_t calls, time_point now) noexcept {
    const auto wait_time = now - first.submitted;
    figures_.record_batch(first.req.command(), calls, wait_time);
    context_.publish<events::batch_formed>([&] {
        return events::batch_formed{first.assigned_worker->id(), first.req.command(), calls, wait_time};
    });
}

void open_calls::count_failure(errc code) noexcept {
    ++counters_.failed;
    counters_.remote_errors += code == errc::remote_error ? 1 : 0;
    counters_.rejected += code == errc::pool_saturated ? 1 : 0;
    const bool is_unserved = code == errc::no_worker || code == errc::no_node;
    counters_.queue_timeouts += code == errc::queue_timeout || is_unserved ? 1 : 0;
    counters_.timeouts += code == errc::timeout ? 1 : 0;
    counters_.cancelled += code == errc::cancelled ? 1 : 0;
    counters_.poisonous += code == errc::poisonous_request ? 1 : 0;
}

/// The call is over: removes it from its list.
void open_calls::close_out(call& ended_call, time_point now) {
    const call_ptr keep(&ended_call);
    switch (ended_call.state) {
    case call_state::queued: room_.leave(ended_call); break;
    case call_state::delayed: delayed_.remove(ended_call); break;
    case call_state::running: running_.end(ended_call, now); break;
    default: break;
    }
    ended_call.state = call_state::done;
    sessions_.end_use(ended_call);
    room_.deadlines().remove(ended_call);
    report_drained();
}

void open_calls::report_drained() {
    if (queued() + running_.size() == 0 && !drained_.is_open()) {
        drained_.open();
    }
}

} // namespace skep
