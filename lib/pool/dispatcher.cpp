// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/dispatcher.hpp"

#include "core/clock.hpp"
#include "policy/remote_error.hpp"
#include "pool/guarded_scheduler.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace skep {

namespace {

// After this many expired deadlines others get their turn: a storm of them must not block the strand.
constexpr int expiries_per_turn = 256;

constexpr duration before_next_attempt = std::chrono::milliseconds(100);

std::unique_ptr<scheduler> scheduler_of(const pool_config& config, const pool_log& log) {
    if (config.custom_scheduler) {
        return std::make_unique<guarded_scheduler>(config.custom_scheduler, log);
    }
    return make_scheduler(config.schedule);
}

} // namespace

dispatcher::dispatcher(const pool_context& context, const pool_config& config, dispatcher_events& events,
                       const pool_log& log)
    : config_(config),
      events_(events),
      context_(context),
      scheduler_(scheduler_of(config, log)),
      pipelined_(make_scheduler(scheduling::least_loaded)),
      deadline_moved_(context.executor),
      drained_(context.executor),
      losses_(config, context) {}

void dispatcher::submit(const call_ptr& which) {
    ++counters_.submitted;
    which->submitted = clock::now();
    which->deadline =
        std::min(which->req.deadline().value_or(time_point::max()),
                 after_limit(which->submitted, which->req.timeout().value_or(config_.request_timeout)));
    if (which->deadline <= which->submitted) {
        fail(*which, errc::timeout);
        return;
    }
    if (losses_.is_poison(*which, which->submitted)) {
        fail(*which, errc::poisonous_request);
        return;
    }
    place(which);
}

/// To a worker if one is free, else into the queue, else back.
void dispatcher::place(const call_ptr& which) {
    if (auto* const free = pick()) {
        dispatch(which, *free, which->submitted);
    } else if (queue_.size() >= config_.queue.limit) {
        fail(*which, errc::pool_saturated);
    } else {
        enqueue(which, false, which->submitted);
    }
}

void dispatcher::enqueue(const call_ptr& which, bool at_front, time_point now) {
    which->state = call_state::queued;
    const auto limit = which->req.queue_timeout().value_or(config_.queue.timeout);
    set_deadline(*which, std::min(which->deadline, after_limit(now, limit)));
    at_front ? queue_.push_front(which) : queue_.push_back(which);
    if (queue_.size() == 1) {
        events_.on_waiting();
    }
}

void dispatcher::serve_free() {
    while (!queue_.empty()) {
        auto* const free = pick();
        if (free == nullptr) {
            break;
        }
        const auto next = queue_.pop_front();
        dispatch(next, *free, clock::now());
    }
}

void dispatcher::dispatch(const call_ptr& which, worker& to, time_point now) {
    which->state = call_state::running;
    which->dispatched = now;
    ++which->attempts;
    running_.push_back(which);
    try {
        to.assign(*which, now);
        set_deadline(*which, which->deadline);
    } catch (const std::exception& problem) { // out of memory
        error_info info;
        info.detail = problem.what();
        fail(*which, errc::invalid_request, std::move(info));
    }
    refresh(to);
}

worker* dispatcher::pick() {
    auto* const free = pick_by(*scheduler_, &worker::accepts_call);
    return free != nullptr ? free : pick_by(*pipelined_, &worker::accepts_pipelined_call);
}

/// What has left service may still be on offer for a moment.
worker* dispatcher::pick_by(scheduler& who, bool (worker::*accepts)() const noexcept) {
    while (const auto slot = who.pick()) {
        auto* const picked = *slot < in_service_.size() ? in_service_[*slot] : nullptr;
        if (picked != nullptr && (picked->*accepts)()) {
            return picked;
        }
        who.withdraw(*slot);
    }
    return nullptr;
}

/// The permit goes straight from the worker that became free to the oldest waiter.
void dispatcher::serve_queue(worker& with, time_point now) {
    while (!queue_.empty() && (with.accepts_call() || with.accepts_pipelined_call())) {
        const auto next = queue_.pop_front();
        dispatch(next, with, now);
    }
    refresh(with);
}

void dispatcher::refresh(worker& which) {
    const auto slot = which.id().slot;
    if (slot >= in_service_.size() || in_service_[slot] != &which) {
        return; // the slot may be another's by now
    }
    const auto tell = [&](scheduler& who, bool takes) {
        takes ? who.offer(slot, which.load()) : who.withdraw(slot);
    };
    tell(*scheduler_, which.accepts_call());
    if (config_.pipeline_depth > 0) {
        tell(*pipelined_, which.accepts_pipelined_call());
    }
}

void dispatcher::enlist(worker& fresh) {
    const auto slot = fresh.id().slot;
    if (slot >= in_service_.size()) {
        in_service_.resize(slot + 1);
    }
    in_service_[slot] = &fresh;
    serve_queue(fresh, clock::now());
}

void dispatcher::on_room(worker& from) {
    serve_queue(from, clock::now());
}

void dispatcher::dismiss(worker& gone) {
    const auto slot = gone.id().slot;
    if (slot < in_service_.size() && in_service_[slot] == &gone) {
        in_service_[slot] = nullptr;
        scheduler_->withdraw(slot);
        pipelined_->withdraw(slot);
    }
}

void dispatcher::cancel(call& which, asio::cancellation_type type) {
    if (which.state == call_state::queued || which.state == call_state::delayed) {
        fail(which, errc::cancelled);
    } else if (which.state == call_state::running && type != asio::cancellation_type::total) {
        abandon(which, errc::cancelled);
    }
}

void dispatcher::reject(call& which, errc code, error_info info) {
    ++counters_.submitted;
    which.submitted = clock::now();
    fail(which, code, std::move(info));
}

void dispatcher::on_result(worker& from, call& which, result_message& answer) {
    if (which.state != call_state::running) {
        settle_late(from, which);
        return;
    }
    ++counters_.succeeded;
    const auto now = clock::now();
    auto& result = which.answer;
    result.value = std::move(answer.value);
    result.attachments = std::move(answer.attachments);
    result.worker = from.id();
    result.correlation_id = which.req.correlation_id();
    result.queue_time = which.dispatched - which.submitted;
    result.run_time = now - which.dispatched;
    result.attempts = which.attempts;
    work_done_ += result.run_time;
    losses_.succeeded();
    const auto caller = close_call(which);
    try {
        serve_queue(from, now); // first: the worker is to idle as little as may be
    } catch (...) {             // out of memory, which is not this caller's affair
        caller->resume();
        throw;
    }
    caller->resume();
}

void dispatcher::on_remote_error(worker& from, call& which, error_message& answer) {
    if (which.state != call_state::running) {
        settle_late(from, which);
        return;
    }
    error_info info;
    info.worker = from.id();
    info.remote_type = std::move(answer.type);
    info.remote_message = std::move(answer.message);
    info.remote_traceback = std::move(answer.traceback);
    info.remote_code = std::move(answer.code);
    info.remote_data = std::move(answer.data);
    const auto code = code_of_remote_error(info.remote_type);
    fail(which, code, std::move(info));
    serve_queue(from, clock::now());
}

/// An answer to a call that was given up: dropped, but its worker is free again.
void dispatcher::settle_late(worker& from, call& which) {
    ++counters_.late_answers;
    which.state = call_state::done;
    deadlines_.remove(which);
    serve_queue(from, clock::now());
}

void dispatcher::on_call_lost(worker& from, const lost_call_notice& notice) {
    const auto& which = notice.lost;
    if (which->state != call_state::running) {
        which->state = call_state::done;
        deadlines_.remove(*which);
        return;
    }
    try {
        give_back(from, notice);
    } catch (const std::exception&) {
        // Out of memory: it has no worker any more, and will be failed in a moment.
        which->at = nullptr;
        deadlines_.set(*which, clock::now() + before_next_attempt);
        deadline_moved_.open();
    }
}

void dispatcher::give_back(worker& from, const lost_call_notice& notice) {
    const auto& which = notice.lost;
    error cause(errc::worker_lost, from.describe());
    const auto verdict =
        losses_.judge(*which, notice.may_have_begun, notice.is_to_blame, cause, clock::now());
    if (verdict.fate == call_fate::fail || verdict.fate == call_fate::refuse) {
        counters_.retries_denied += verdict.budget_is_spent ? 1 : 0;
        cause.info.detail += verdict.budget_is_spent ? "; not retried, as too many calls were of late" : "";
        const bool refused = verdict.fate == call_fate::refuse;
        fail(*which, refused ? errc::poisonous_request : errc::worker_lost, std::move(cause.info));
        return;
    }
    running_.remove(*which);
    work_done_ += clock::now() - which->dispatched;
    ++counters_.retried;
    if (verdict.fate == call_fate::resend) {
        --which->attempts;
    }
    if (verdict.fate == call_fate::retry && verdict.wait > duration::zero()) {
        delay(which, verdict.wait);
    } else {
        enqueue(which, true, clock::now());
    }
}

void dispatcher::delay(const call_ptr& which, duration wait) {
    which->state = call_state::delayed;
    delayed_.push_back(which);
    set_deadline(*which, std::min(which->deadline, clock::now() + wait));
}

void dispatcher::resume_delayed(const call_ptr& which) {
    delayed_.remove(*which);
    enqueue(which, true, clock::now());
    serve_free();
}

void dispatcher::fail_queue(errc code, const error_info& info) {
    while (!queue_.empty()) {
        fail(queue_.front(), code, info);
    }
    while (!delayed_.empty()) {
        fail(delayed_.front(), code, info);
    }
}

duration dispatcher::work_done(time_point now) {
    auto total = work_done_;
    running_.for_each([&](const call& each) { total += now - each.dispatched; });
    return total;
}

void dispatcher::on_begun_in_vain(call& which) {
    grant_grace(which);
}

std::size_t dispatcher::abort_all(errc code) {
    const auto count = queued() + running_.size();
    fail_queue(code, {});
    abort_running(code);
    return count;
}

void dispatcher::abort_running(errc code, const error_info& info) {
    while (!running_.empty()) {
        abandon(running_.front(), code, info);
    }
}

void dispatcher::forget_callers() noexcept {
    const auto forget = [](call& each) { each.caller.reset(); };
    queue_.for_each(forget);
    delayed_.for_each(forget);
    running_.for_each(forget);
}

asio::awaitable<void> dispatcher::watch_deadlines() {
    while (!closed_) {
        const auto now = clock::now();
        int expired = 0;
        while (auto* const node = expired < expiries_per_turn ? deadlines_.pop_due(now) : nullptr) {
            const call_ptr which(static_cast<call*>(node));
            try {
                expire(*which);
            } catch (...) { // out of memory: its time will come again
                deadlines_.set(*which, now + before_next_attempt);
                throw;
            }
            ++expired;
        }
        if (expired == expiries_per_turn) {
            co_await asio::post(context_.executor, asio::use_awaitable);
            continue;
        }
        armed_ = deadlines_.earliest();
        deadline_moved_.close();
        co_await deadline_moved_.wait_until(armed_);
    }
}

void dispatcher::close() {
    closed_ = true;
    deadline_moved_.open();
}

asio::awaitable<void> dispatcher::drain(time_point limit) {
    bool in_time = true;
    while (in_time && queued() + running_.size() > 0) {
        drained_.close();
        in_time = co_await drained_.wait_until(limit);
    }
}

void dispatcher::expire(call& which) {
    switch (which.state) {
    case call_state::queued: fail_waiting(which); break;
    case call_state::delayed:
        which.deadline > clock::now() ? resume_delayed(call_ptr(&which)) : fail(which, errc::timeout);
        break;
    case call_state::running:
        if (which.at != nullptr && !which.at->is_pipelined(which)) {
            events_.on_timeout(*which.at, which);
        }
        abandon(which, which.at != nullptr ? errc::timeout : errc::worker_lost);
        break;
    case call_state::abandoned:
        which.overdue.has_passed(clock::now()) ? events_.on_overdue(*which.at)
                                               : set_deadline(which, which.overdue.due());
        break;
    default: break;
    }
}

/// Its time was over before a worker took it.
void dispatcher::fail_waiting(call& which) {
    error_info info;
    info.detail = events_.shortage();
    if (!is_any_up()) {
        fail(which, errc::no_worker, std::move(info));
    } else if (which.deadline <= clock::now()) {
        fail(which, errc::timeout, std::move(info));
    } else {
        if (info.detail.empty()) {
            info.detail = "all were busy; raise workers, queue.timeout or the request's queue_timeout";
        }
        fail(which, errc::queue_timeout, std::move(info));
    }
}

bool dispatcher::is_any_up() const noexcept {
    return std::any_of(in_service_.begin(), in_service_.end(),
                       [](const worker* each) { return each != nullptr; });
}

/// Answers the caller now; the worker has cancel_grace to notice.
void dispatcher::abandon(call& which, errc code, error_info info) {
    const call_ptr keep(&which);
    auto* const at = which.at;
    if (at == nullptr) {
        fail(which, code, std::move(info));
        return;
    }
    info.worker = at->id();
    fail(which, code, std::move(info));
    which.state = call_state::abandoned;
    at->cancel(which);
    if (!at->is_pipelined(which)) { // else the worker will skip it, and nothing is wrong with the worker
        grant_grace(which);
    }
}

/// From now on the worker has that long to end the call.
void dispatcher::grant_grace(call& which) {
    which.overdue = {clock::now() + config_.cancel_grace, config_.cancel_grace};
    set_deadline(which, which.overdue.due());
}

void dispatcher::fail(call& which, errc code, error_info info) {
    info.pool = config_.name;
    info.command = which.req.command();
    info.attempts = which.attempts;
    info.queue_depth = queue_.size();
    info.wait_time = (which.attempts > 0 ? which.dispatched : clock::now()) - which.submitted;
    which.failure = std::make_unique<error>(code, std::move(info));
    ++counters_.failed;
    counters_.remote_errors += code == errc::remote_error ? 1 : 0;
    counters_.rejected += code == errc::pool_saturated ? 1 : 0;
    counters_.queue_timeouts += code == errc::queue_timeout || code == errc::no_worker ? 1 : 0;
    counters_.timeouts += code == errc::timeout ? 1 : 0;
    counters_.cancelled += code == errc::cancelled ? 1 : 0;
    counters_.poisonous += code == errc::poisonous_request ? 1 : 0;
    work_done_ += which.state == call_state::running ? clock::now() - which.dispatched : duration::zero();
    const auto caller = close_call(which);
    caller->resume();
}

/// Takes the call out of all lists; returns its caller, to be resumed.
std::unique_ptr<suspended_caller> dispatcher::close_call(call& which) {
    const call_ptr keep(&which);
    if (which.state == call_state::queued) {
        queue_.remove(which);
    } else if (which.state == call_state::delayed) {
        delayed_.remove(which);
    } else if (which.state == call_state::running) {
        running_.remove(which);
    }
    which.state = call_state::done;
    deadlines_.remove(which);
    if (queued() + running_.size() == 0 && !drained_.is_open()) {
        drained_.open();
    }
    return std::move(which.caller);
}

void dispatcher::set_deadline(call& which, time_point due) {
    if (due == time_point::max()) {
        deadlines_.remove(which);
        return;
    }
    deadlines_.set(which, due);
    if (due < armed_) {
        armed_ = due;
        deadline_moved_.open();
    }
}

} // namespace skep
