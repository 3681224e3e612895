// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/dispatcher.hpp"

#include "core/clock.hpp"
#include "policy/remote_error.hpp"
#include "pool/call_events.hpp"
#include "pool/call_tracing.hpp"
#include "pool/next_attempt.hpp"
#include "pool/tool_cycle.hpp"
#include "worker/answers.hpp"

#include <algorithm>

namespace skep {

dispatcher::dispatcher(const pool_context& context, const pool_config& config, dispatcher_events& events,
                       const pool_log& log)
    : config_(config),
      context_(context),
      events_(events),
      placement_(config, log),
      sessions_(config.affinity),
      deadlines_(context),
      leases_(config, context, placement_, queue_, deadlines_, events, *this, log),
      losses_(config, context),
      figures_(config.metrics),
      drained_(context.executor),
      has_sessions_(context.executor) {}

void dispatcher::submit(call& fresh, admission_facts pool) {
    ++counters_.submitted;
    try {
        take_on(fresh, pool);
    } catch (const std::exception& problem) { // out of memory
        if (fresh.state != call_state::done) {
            fail_for_memory(fresh, problem);
        }
    }
}

void dispatcher::take_on(call& fresh, admission_facts pool) {
    receive(fresh);
    if (const auto unsendable = std::move(fresh.refusal)) {
        fail(fresh, unsendable->errc(), std::move(unsendable->info));
        return;
    }
    pool.is_expired = fresh.deadline <= fresh.submitted;
    pool.is_poisonous = losses_.is_poison(fresh, fresh.submitted);
    if (const auto refusal = refusal_of(pool)) {
        const bool is_the_pools = !pool.is_expired && !pool.is_poisonous;
        fail(fresh, *refusal, is_the_pools ? events_.cause_of_refusal() : error_info());
        return;
    }
    place(fresh);
}

/// From now on its time runs.
void dispatcher::receive(call& fresh) noexcept {
    fresh.holder = this;
    fresh.submitted = context_.now();
    const auto default_timeout = fresh.stream == nullptr ? config_.request_timeout : config_.stream.timeout;
    fresh.deadline = std::min(fresh.req.deadline().value_or(time_point::max()),
                              after_limit(fresh.submitted, fresh.req.timeout().value_or(default_timeout)));
}

void dispatcher::place(call& fresh) {
    if (auto* const lease = lease_of(fresh)) {
        leases_.place(fresh, *lease);
        return;
    }
    fresh.has_session() ? settle_in_session(fresh, nullptr) : place_anywhere(fresh);
}

void dispatcher::place_anywhere(call& fresh) {
    // Who wants a whole worker waits where a call could go, as does what cannot be pipelined: they are not overtaken.
    const bool is_first = queue_.is_common_empty();
    const bool has_to_wait = !is_first && queue_.front().wants_whole_worker;
    auto* const free = has_to_wait ? nullptr : placement_.pick(fresh, is_first);
    free != nullptr ? dispatch(fresh, *free, fresh.submitted) : queue_up(fresh);
}

void dispatcher::queue_up(call& fresh) {
    const bool has_place = false;
    if (admit(has_place, queue_.size(), config_.queue.limit) == admission::queue) {
        enqueue(fresh, false, fresh.submitted);
    } else {
        fail(fresh, errc::pool_saturated);
    }
}

void dispatcher::enqueue(call& waiting, bool at_front, time_point now) {
    const auto limit = waiting.req.queue_timeout().value_or(config_.queue.timeout);
    deadlines_.set(waiting, std::min(waiting.deadline, after_limit(now, limit)));
    waiting.state = call_state::queued;
    at_front ? queue_.push_front(&waiting) : queue_.push_back(&waiting);
    tell_enqueued(context_, config_.name, waiting, queue_.size());
    if (queue_.common_size() == 1) {
        events_.on_waiting();
    }
    const bool may_be_helped = !waiting.slot && events_.may_get_more_workers();
    if (outer_of(waiting) != nullptr && !may_be_helped) {
        is_refused_as_circle(waiting);
    }
}

bool dispatcher::is_part_of_running_call(const call& fresh) const noexcept {
    for (const auto* outer = outer_of(fresh); outer != nullptr; outer = outer_of(*outer)) {
        if (outer->holder == this &&
            outer->state == call_state::running) { // only of its own it knows the state
            return true;
        }
    }
    return false;
}

void dispatcher::refuse_circles() {
    bool may_be_more = true;
    while (may_be_more && !events_.may_get_more_workers()) { // first: it takes no look at the whole queue
        auto* const newest = newest_made_by_tool();
        may_be_more = newest != nullptr && is_refused_as_circle(*newest);
    }
}

call* dispatcher::newest_made_by_tool() {
    call* newest = nullptr;
    queue_.for_each([&](claim& each) {
        auto* const waiting = each.as_call();
        newest = waiting != nullptr && outer_of(*waiting) != nullptr ? waiting : newest;
    });
    return newest;
}

bool dispatcher::is_refused_as_circle(call& made_by_tool) {
    error_info info;
    try {
        if (!waits_for_itself(made_by_tool, queue_, placement_)) {
            return false;
        }
        info.detail = "it would wait for ever: " + trail_of(made_by_tool);
    } catch (const std::bad_alloc&) { // it waits, and ends by its timeouts
        return false;
    }
    leave_queue(made_by_tool, errc::tool_cycle, std::move(info));
    return true;
}

/// What has waited behind a call that could not be pipelined may be.
void dispatcher::leave_queue(call& waiting, errc code, error_info info) {
    const bool has_held_up_others = !waiting.is_pipelinable;
    fail(waiting, code, std::move(info));
    if (has_held_up_others) {
        serve_all();
    }
}

void dispatcher::dispatch(call& next, worker& to, time_point now) {
    if (next.state == call_state::queued) {
        tell_dequeued(context_, config_.name, next, waiting_with(next));
    }
    next.state = call_state::running;
    next.at = &to;
    next.id = 0; // none yet
    next.dispatched = now;
    ++next.attempts;
    running_.begin(next);
    try {
        deadlines_.reserve_one();
        if (next.has_session()) {
            bind_session(next, to, now);
        }
        to.assign(next, now);
        if (next.stream != nullptr) {
            next.stream->heard = now;
        }
        deadlines_.set(next, next_look(next));
        tell_started(context_, next);
    } catch (const std::exception& problem) {
        fail_for_memory(next, problem);
    }
    placement_.refresh(to);
    if (next.state == call_state::running) {
        next.sink->on_sent();
    }
}

void dispatcher::fail_for_memory(call& unsent, const std::exception& problem) {
    error_info info;
    try {
        info.detail = problem.what();
    } catch (const std::exception&) {}
    fail(unsent, errc::invalid_request, std::move(info));
}

void dispatcher::on_granted(claim& granted, worker& place, time_point now) {
    auto& next = static_cast<call&>(granted);
    next.has_session() ? settle_in_session(next, &place) : dispatch(next, place, now);
}

void dispatcher::enlist(worker& fresh) {
    placement_.enlist(fresh);
    serve(fresh);
}

/// The permit goes straight from the worker that became free to whoever has waited longest.
void dispatcher::serve(worker& place) {
    leases_.serve(place);
    const auto slot = place.id().slot;
    auto* next = queue_.empty() ? nullptr : queue_.next_for(slot);
    bool has_held_up_others = false;
    while (next != nullptr && placement::has_room(place, *next)) {
        const auto granted = queue_.remove(*next);
        has_held_up_others |= !granted->is_pipelinable;
        granted->holder->on_granted(*granted, place, context_.now());
        next = queue_.next_for(slot);
    }
    placement_.refresh(place);
    if (has_held_up_others) {
        serve_all();
    }
}

void dispatcher::serve_all() {
    auto* free = queue_.is_common_empty() ? nullptr : placement_.pick(queue_.front());
    while (free != nullptr) {
        const auto granted = queue_.remove(queue_.front());
        granted->holder->on_granted(*granted, *free, context_.now());
        free = queue_.is_common_empty() ? nullptr : placement_.pick(queue_.front());
    }
}

void dispatcher::cancel(call& given_up, asio::cancellation_type type) {
    switch (given_up.state) {
    case call_state::queued: leave_queue(given_up, errc::cancelled); break;
    case call_state::delayed:
    case call_state::stranded: fail(given_up, errc::cancelled); break;
    case call_state::running:
        if (type != asio::cancellation_type::total) {
            abandon(given_up, errc::cancelled);
        }
        break;
    default: break;
    }
}

void dispatcher::on_result(worker& sender, call& answered, result_message& answer, time_point now) {
    if (answered.state != call_state::running) {
        settle_late(sender, answered);
        return;
    }
    const call_ptr keep(&answered);
    ++counters_.succeeded;
    losses_.succeeded();
    answered.sink->put_answer(reply_to(answered, sender, answer, now));
    note_end(answered, now, std::nullopt);
    take_out(answered, now);
    try {
        serve(sender); // first: the worker is to idle as little as may be
    } catch (...) {    // out of memory, which is not this caller's affair
        answered.sink->wake();
        throw;
    }
    answered.sink->wake();
}

void dispatcher::on_chunk(call& receiver, chunk_message& piece) {
    if (receiver.state != call_state::running) {
        return; // nobody waits for it
    }
    receiver.stream->has_begun = true;
    receiver.stream->heard = context_.now();
    context_.tell<events::stream_chunk>([&] {
        return events::stream_chunk{receiver.at->id(), receiver.req.command(), correlation_id_of(receiver),
                                    piece.bytes};
    });
    receiver.sink->put_chunk({std::move(piece.value), std::move(piece.attachments)}, piece.bytes);
}

void dispatcher::take_chunks(call& from, stream_credit taken) {
    auto& window = from.stream->window;
    const bool was_exhausted = window.is_exhausted();
    window.take(taken);
    if (from.state != call_state::running) {
        return;
    }
    if (const auto more = window.grant()) {
        from.stream->heard = was_exhausted ? context_.now() : from.stream->heard;
        from.at->grant(from, *more);
    }
}

void dispatcher::on_remote_error(worker& sender, call& answered, error_message& answer) {
    if (answered.state != call_state::running) {
        settle_late(sender, answered);
        return;
    }
    const auto code = code_of_remote_error(answer.type);
    auto info = remote_failure(sender, answered, answer);
    fail(answered, code, std::move(info));
    serve(sender);
}

/// An answer to a call that was given up: dropped, but its worker is free again.
void dispatcher::settle_late(worker& sender, call& answered) {
    ++counters_.late_answers;
    answered.state = call_state::done;
    deadlines_.remove(answered);
    serve(sender);
}

void dispatcher::on_call_lost(worker& gone, const lost_call_notice& notice) {
    auto& lost = *notice.lost;
    if (lost.state != call_state::running) {
        lost.state = call_state::done;
        deadlines_.remove(lost);
        return;
    }
    try {
        give_back(gone, notice);
    } catch (const std::exception&) { // out of memory: it will be failed in a moment
        lost.state = call_state::stranded;
        deadlines_.set(lost, context_.now() + before_next_attempt);
    }
}

void dispatcher::give_back(worker& gone, const lost_call_notice& notice) {
    auto& lost = *notice.lost;
    const auto now = context_.now();
    error cause(errc::worker_lost, gone.describe());
    const bool is_lost_in_session = is_lost_to_session(lost);
    const bool may_go_elsewhere = !lost.is_leased() && !is_lost_in_session;
    const auto verdict = losses_.judge(notice, may_go_elsewhere, cause, now);
    if (verdict.fate == call_fate::fail || verdict.fate == call_fate::refuse) {
        counters_.retries_denied += verdict.budget_is_spent ? 1 : 0;
        cause.info.detail += verdict.budget_is_spent ? "; not retried, as too many calls were of late" : "";
        const bool refused = verdict.fate == call_fate::refuse;
        fail(lost, refused ? errc::poisonous_request : errc::worker_lost, std::move(cause.info));
        return;
    }
    if (lost.is_leased()) {
        fail(lost, errc::worker_lost, std::move(cause.info));
        return;
    }
    if (is_lost_in_session) {
        const auto code = notice.may_have_begun ? errc::worker_lost : errc::session_worker_unavailable;
        fail(lost, code, std::move(cause.info));
        return;
    }
    deadlines_.reserve_one();
    context_.tell<events::request_retried>([&] {
        return events::request_retried{gone.id(), lost.req.command(), gone.correlation_id_of(lost),
                                       verdict.fate == call_fate::retry ? verdict.wait : duration::zero(),
                                       lost.attempts};
    });
    running_.end(lost, now);
    ++counters_.retried;
    if (verdict.fate == call_fate::resend) {
        --lost.attempts;
    }
    if (verdict.fate == call_fate::retry && verdict.wait > duration::zero()) {
        delay(lost, verdict.wait);
    } else {
        enqueue(lost, true, now);
    }
}

void dispatcher::delay(call& lost, duration wait) {
    lost.state = call_state::delayed;
    delayed_.push_back(&lost);
    deadlines_.set(lost, std::min(lost.deadline, context_.now() + wait));
}

std::size_t dispatcher::fail_queue(errc code, const error_info& info) {
    leases_.refuse_checkouts(code, info); // calls are left
    const auto count = queued();
    while (!queue_.empty()) {
        fail(static_cast<call&>(queue_.oldest()), code, info);
    }
    while (!delayed_.empty()) {
        fail(delayed_.front(), code, info);
    }
    leases_.refuse_calls(code, info);
    return count;
}

void dispatcher::refuse_checkouts(errc code) {
    leases_.refuse_checkouts(code);
    serve_all();
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

void dispatcher::forget_callers() noexcept {
    const auto forget = [](claim& each) { each.forget(); };
    leases_.forget_callers();
    queue_.for_each(forget);
    delayed_.for_each(forget);
    running_.for_each(forget);
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
    if (running.state == call_state::stranded) {
        fail(running, code, std::move(info));
        return;
    }
    auto& at = *running.at;
    info.worker = at.id();
    fail(running, code, std::move(info));
    running.state = call_state::abandoned;
    at.cancel(running);
    if (!at.is_pipelined(running)) { // else the worker will skip it, and nothing is wrong with the worker
        grant_grace(running);
    }
}

void dispatcher::fail(call& failed, errc code, error_info info) {
    const call_ptr keep(&failed);
    const auto now = context_.now();
    try {
        info.pool = config_.name;
        info.command = failed.req.command();
        info.attempts = failed.attempts;
        if (info.correlation_id.empty()) {
            info.correlation_id = correlation_id_of(failed);
        }
        info.queue_depth = queue_.size();
        describe_load(info, now);
        info.wait_time = (failed.attempts > 0 ? failed.dispatched : now) - failed.submitted;
        failed.sink->put_failure(std::make_unique<error>(code, std::move(info)));
    } catch (const std::exception&) { // out of memory
        failed.sink->put_failure(code);
    }
    count_failure(code);
    tell_failed(failed, code);
    note_end(failed, now, code);
    take_out(failed, now);
    failed.sink->wake();
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

std::size_t dispatcher::waiting_with(const call& of) const noexcept {
    const auto* const lease = lease_of(of);
    return lease != nullptr ? lease->waiting.size() : queue_.size();
}

void dispatcher::tell_failed(const call& failed, errc code) const {
    if (failed.state == call_state::queued) {
        tell_left_queue(context_, config_.name, failed, code);
    }
    if (code == errc::pool_saturated) {
        tell_saturated(context_, config_, waiting_with(failed));
    }
}

void dispatcher::note_end(const call& over, time_point now, std::optional<errc> code) noexcept {
    const auto times = time_spent_at(over, now);
    figures_.record(over.req.command(), times, code);
    tell_finished(context_, config_.name, over, times, code);
    tell_spans(context_, config_.name, over, times, code);
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
void dispatcher::take_out(call& over, time_point now) {
    const call_ptr keep(&over);
    switch (over.state) {
    case call_state::queued:
        if (auto* const lease = lease_of(over)) {
            leases_.remove(over, *lease);
        } else {
            queue_.remove(over);
            end_wait_for_home(over);
        }
        break;
    case call_state::delayed: delayed_.remove(over); break;
    case call_state::running:
    case call_state::stranded: running_.end(over, now); break;
    default: break;
    }
    over.state = call_state::done;
    deadlines_.remove(over);
    show_drained();
}

void dispatcher::show_drained() {
    if (queued() + running_.size() == 0 && !drained_.is_open()) {
        drained_.open();
    }
}

void dispatcher::begin_reset(call& fresh, worker& at) {
    ++counters_.submitted;
    receive(fresh);
    dispatch(fresh, at, fresh.submitted);
}

call* dispatcher::running_call_of(const lease_claim& lease) {
    call* found = nullptr;
    running_.for_each([&](call& each) { found = lease_of(each) == &lease ? &each : found; });
    return found;
}

} // namespace skep
