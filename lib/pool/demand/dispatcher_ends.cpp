// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// How calls end: when their time has come, one by one, or all of them.

#include "core/clock.hpp"
#include "core/duration_text.hpp"
#include "pool/demand/call_events.hpp"
#include "pool/demand/call_tracing.hpp"
#include "pool/demand/dispatcher.hpp"

#include <algorithm>
#include <new>

namespace skep {

/// When a call that a worker has is to be looked at again.
time_point dispatcher::next_check(const call& running) {
    if (running.stream == nullptr) {
        return running.deadline;
    }
    return std::min(running.deadline, after_limit(running.stream->heard, running.stream->idle_timeout));
}

void dispatcher::on_due(claim& due, const supply_outlook& supply) {
    auto& late = static_cast<call&>(due);
    const auto now = context_.now();
    switch (late.state) {
    case call_state::queued: fail_waiting(late, supply); break;
    case call_state::delayed:
        if (late.deadline > now) {
            resume_delayed(late, supply.may_grow);
        } else {
            fail(late, errc::timeout);
        }
        break;
    case call_state::running:
        if (late.deadline > now) {
            check_quiet(late);
        } else {
            time_out(late);
        }
        break;
    case call_state::abandoned: check_overdue(late); break;
    default: break;
    }
}

void dispatcher::time_out(call& running, error_info info) {
    auto& at = *running.at;
    if (!at.calls().is_pipelined(running)) {
        timed_out_.push_back({at.shared_from_this(), &running});
    }
    abandon(running, errc::timeout, std::move(info));
}

/// No chunk has come for a while: it may be the consumer's turn, or the worker has been heard since.
void dispatcher::check_quiet(call& stream) {
    const auto now = context_.now();
    if (stream.stream->window.is_exhausted() || stream.at->calls().is_asking(stream)) {
        stream.stream->heard = now;
    }
    if (next_check(stream) > now) {
        room_.deadlines().set(stream, next_check(stream));
        return;
    }
    error_info info;
    info.detail = "no chunk came for " + in_milliseconds(stream.stream->idle_timeout) +
                  ", its idle_timeout, though the worker might have sent one";
    time_out(stream, std::move(info));
}

void dispatcher::check_overdue(call& abandoned) {
    if (abandoned.overdue.has_passed(context_.now())) {
        constexpr auto story = "it is still at a call given up cancel_grace ago";
        abandoned.at->report({failure_kind::call_overdue, story});
    } else {
        room_.deadlines().set(abandoned, abandoned.overdue.due());
    }
}

/// Its time was over before a worker took it.
void dispatcher::fail_waiting(call& waiting, const supply_outlook& supply) {
    error_info info;
    info.detail = supply.shortage;
    auto code = errc::queue_timeout;
    if (!room_.places().is_any_up()) {
        code = errc::no_worker;
    } else if (waiting.deadline <= context_.now()) {
        code = errc::timeout;
    } else if (info.detail.empty()) {
        info.detail = waiting.is_leased() ? "the lease's other calls held its places; raise "
                      : waiting.slot      ? "the worker of its session was busy; raise "
                                          : "all were busy; raise workers, ";
        info.detail += "queue.timeout or the request's queue_timeout";
    }
    leave_queue(waiting, code, std::move(info));
}

void dispatcher::resume_delayed(call& delayed, bool may_grow) {
    const auto keep = delayed_.remove(delayed);
    enqueue(delayed, true, context_.now());
    room_.serve_all();
    if (delayed.state == call_state::queued) {
        refuse_if_cycle(delayed, may_grow);
    }
}

/// From now on the worker has that long to end the call.
void dispatcher::grant_grace(call& abandoned) {
    abandoned.overdue = {context_.now() + config_.cancel_grace, config_.cancel_grace};
    room_.deadlines().set(abandoned, abandoned.overdue.due());
}

void dispatcher::fail_unsent(call& unsent, const char* problem) {
    error_info info;
    info.detail = problem;
    fail(unsent, errc::invalid_request, std::move(info));
}

std::size_t dispatcher::fail_queue(errc code, const error_info& info) {
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

void dispatcher::fail_waiting_in(lease_claim& lease, errc code, const error_info& info) {
    while (!lease.waiting.empty()) {
        fail(lease.waiting.front(), code, info);
    }
}

void dispatcher::abandon_running_in(const lease_claim& lease, errc code) {
    running_.for_each([&](call& each) {
        if (lease_of(each) == &lease) {
            abandon(each, code);
        }
    });
}

std::size_t dispatcher::abort_all(errc code) {
    const auto count = running_.size() + fail_queue(code, {});
    abort_running(code);
    return count;
}

void dispatcher::abort_running(errc code, const error_info& info) {
    while (!running_.empty()) {
        abandon(running_.front(), code, info);
    }
}

void dispatcher::drop_callers() noexcept {
    while (const auto each = room_.close_first()) {
        each->forget();
    }
}

std::size_t dispatcher::break_down(const error& why) noexcept {
    const auto before = counters_.failed;
    while (const auto each = room_.close_first()) {
        each->holder->on_breakdown(*each, why);
    }
    room_.clear();
    delayed_.clear();
    running_.clear();
    timed_out_.clear();
    drained_.open();
    return counters_.failed - before;
}

/// Wherever it is. Its worker may still have it, but will not answer any more.
void dispatcher::on_breakdown(claim& broken, const error& why) noexcept {
    auto& failed = static_cast<call&>(broken);
    if (auto* const lease = lease_of(failed)) {
        lease->at = nullptr; // its worker is not to be reset
    }
    count_failure(why.errc());
    record_end(failed, context_.now(), why.errc());
    failed.state = call_state::done;
    sessions_.end_use(failed);
    failed.sink->put_failure(claim_failure(why));
}

asio::awaitable<void> dispatcher::drain(time_point limit) {
    bool in_time = true;
    while (in_time && queued() + running_.size() > 0) {
        drained_.close();
        in_time = co_await drained_.wait_until(limit);
    }
}

/// Answers the caller now; the worker has cancel_grace to notice.
void dispatcher::abandon(call& running, errc code, error_info info) {
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

void dispatcher::fail(call& failed, errc code, error_info info) {
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

/// What keeps those who wait from being served.
void dispatcher::describe_load(error_info& info, time_point now) {
    info.running_calls = running_.size();
    if (!running_.empty()) {
        const auto& oldest = running_.front();
        info.oldest_command = oldest.req.command();
        info.oldest_run_time = now - oldest.dispatched;
    }
}

void dispatcher::publish_failed(const call& failed, errc code) const {
    if (failed.state == call_state::queued) {
        publish_left_queue(context_, config_.name, failed, code);
    }
    if (code == errc::pool_saturated) {
        publish_saturated(context_, config_, room_.waiting_with(failed));
    }
}

void dispatcher::record_end(const call& over, time_point now, const std::optional<errc>& code) noexcept {
    const auto times = time_spent_at(over, now);
    figures_.record(over.req.command(), times, code);
    publish_finished(context_, config_.name, over, times, code);
    publish_spans(context_, config_.name, over, times, code);
}

void dispatcher::count_failure(errc code) noexcept {
    ++counters_.failed;
    counters_.remote_errors += code == errc::remote_error ? 1 : 0;
    counters_.rejected += code == errc::pool_saturated ? 1 : 0;
    counters_.queue_timeouts += code == errc::queue_timeout || code == errc::no_worker ? 1 : 0;
    counters_.timeouts += code == errc::timeout ? 1 : 0;
    counters_.cancelled += code == errc::cancelled ? 1 : 0;
    counters_.poisonous += code == errc::poisonous_request ? 1 : 0;
}

/// The call is over: takes it out of wherever it is.
void dispatcher::close_out(call& over, time_point now) {
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

void dispatcher::report_drained() {
    if (queued() + running_.size() == 0 && !drained_.is_open()) {
        drained_.open();
    }
}

} // namespace skep
