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

void open_calls::enqueue(call& waiting, bool at_front, time_point now) {
    const auto limit = waiting.req.queue_timeout().value_or(config_.queue.timeout);
    room_.deadlines().set(waiting, std::min(waiting.deadline, after_limit(now, limit)));
    waiting.state = call_state::queued;
    if (auto* const lease = lease_of(waiting)) {
        room_.join(waiting, *lease);
    } else {
        if (at_front) {
            room_.join_first(waiting);
        } else {
            room_.join(waiting);
        }
    }
    publish_enqueued(context_, config_.name, waiting, room_.waiting_with(waiting));
}

void open_calls::begin(call& next, worker& to, time_point now) {
    if (next.state == call_state::queued) {
        publish_dequeued(context_, config_.name, next, room_.waiting_with(next));
    }
    next.state = call_state::running;
    next.at = &to;
    next.id = 0; // none yet
    next.dispatched = now;
    ++next.attempts;
    running_.begin(next);
}

void open_calls::take_back(call& lost, time_point now) {
    running_.end(lost, now);
    ++counters_.retried;
}

void open_calls::delay(call& lost, duration wait) {
    lost.state = call_state::delayed;
    delayed_.push_back(&lost);
    room_.deadlines().set(lost, std::min(lost.deadline, context_.now() + wait));
}

void open_calls::resume(call& delayed) {
    const auto keep = delayed_.remove(delayed);
    enqueue(delayed, true, context_.now());
}

void open_calls::succeed(call& answered, time_point now) {
    ++counters_.succeeded;
    record_end(answered, now, std::nullopt);
    close_out(answered, now);
}

void open_calls::fail(call& failed, errc code, error_info info) {
    const call_ptr keep(&failed);
    const auto now = context_.now();
    info.pool = config_.name;
    info.command = failed.req.command();
    info.attempts = failed.attempts;
    if (info.correlation_id.empty()) {
        info.correlation_id = correlation_id_of(failed);
    }
    info.queue_depth = room_.queue().size();
    describe_load(info, now);
    info.wait_time = (failed.attempts > 0 ? failed.dispatched : now) - failed.submitted;
    claim_failure failure(code, std::move(info));
    count_failure(code);
    publish_failed(failed, code);
    record_end(failed, now, code);
    close_out(failed, now);
    waiting_room::close(failed);
    failed.sink->put_failure(std::move(failure));
}

void open_calls::leave_queue(call& waiting, errc code, error_info info) {
    const bool has_held_up_others = !waiting.is_pipelinable;
    fail(waiting, code, std::move(info));
    if (has_held_up_others) {
        room_.serve_all();
    }
}

void open_calls::abandon(call& running, errc code, error_info info) {
    const call_ptr keep(&running);
    auto& at = *running.at;
    if (!info.worker) { // else its pid and status are those of the worker that is the cause
        info.worker = at.id();
    }
    const bool uses_session = std::exchange(running.uses_session, false);
    fail(running, code, std::move(info));
    running.uses_session = uses_session; // until the worker is done with it
    running.state = call_state::abandoned;
    at.calls().cancel(running);
    if (!at.calls().is_pipelined(running)) { // else the worker will skip it, and is as well as before
        grant_grace(running);
    }
}

void open_calls::grant_grace(call& abandoned) {
    abandoned.overdue = {context_.now() + config_.cancel_grace, config_.cancel_grace};
    room_.deadlines().set(abandoned, abandoned.overdue.due());
}

void open_calls::forget(call& abandoned) {
    abandoned.state = call_state::done;
    sessions_.end_use(abandoned);
    room_.deadlines().remove(abandoned);
}

void open_calls::break_off(call& broken, const error& why) noexcept {
    if (auto* const lease = lease_of(broken)) {
        lease->at = nullptr; // its worker is not to be reset
    }
    count_failure(why.errc());
    record_end(broken, context_.now(), why.errc());
    broken.state = call_state::done;
    sessions_.end_use(broken);
    broken.sink->put_failure(claim_failure(why));
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

std::size_t open_calls::break_down(const error& why) noexcept {
    const auto before = counters_.failed;
    while (const auto each = room_.close_first()) {
        each->holder->on_breakdown(*each, why);
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

/// What keeps those who wait from being served.
void open_calls::describe_load(error_info& info, time_point now) {
    info.running_calls = running_.size();
    if (!running_.empty()) {
        const auto& oldest = running_.front();
        info.oldest_command = oldest.req.command();
        info.oldest_run_time = now - oldest.dispatched;
    }
}

void open_calls::publish_failed(const call& failed, errc code) const {
    if (failed.state == call_state::queued) {
        publish_left_queue(context_, config_.name, failed, code);
    }
    if (code == errc::pool_saturated) {
        publish_saturated(context_, config_, room_.waiting_with(failed));
    }
}

void open_calls::record_end(const call& over, time_point now, const std::optional<errc>& code) noexcept {
    const auto times = time_spent_at(over, now);
    figures_.record(over.req.command(), times, code);
    publish_finished(context_, config_.name, over, times, code);
    publish_spans(context_, config_.name, over, times, code);
}

void open_calls::count_failure(errc code) noexcept {
    ++counters_.failed;
    counters_.remote_errors += code == errc::remote_error ? 1 : 0;
    counters_.rejected += code == errc::pool_saturated ? 1 : 0;
    counters_.queue_timeouts += code == errc::queue_timeout || code == errc::no_worker ? 1 : 0;
    counters_.timeouts += code == errc::timeout ? 1 : 0;
    counters_.cancelled += code == errc::cancelled ? 1 : 0;
    counters_.poisonous += code == errc::poisonous_request ? 1 : 0;
}

/// The call is over: takes it out of wherever it is.
void open_calls::close_out(call& over, time_point now) {
    const call_ptr keep(&over);
    switch (over.state) {
    case call_state::queued: room_.leave(over); break;
    case call_state::delayed: delayed_.remove(over); break;
    case call_state::running: running_.end(over, now); break;
    default: break;
    }
    over.state = call_state::done;
    sessions_.end_use(over);
    room_.deadlines().remove(over);
    report_drained();
}

void open_calls::report_drained() {
    if (queued() + running_.size() == 0 && !drained_.is_open()) {
        drained_.open();
    }
}

} // namespace skep
