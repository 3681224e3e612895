// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/dispatcher.hpp"

#include "core/clock.hpp"
#include "pool/call_events.hpp"
#include "pool/tool_cycle.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace skep {

namespace {

/// As far as there is memory for it.
error_info info_of(const error& refusal) noexcept {
    try {
        return refusal.info();
    } catch (const std::bad_alloc&) {
        return {};
    }
}

} // namespace

dispatcher::dispatcher(const pool_context& context, const pool_config& config, dispatcher_events& events,
                       const pool_log& log)
    : config_(config),
      context_(context),
      events_(events),
      placement_(config, queue_, log),
      sessions_(config.affinity),
      deadlines_(context),
      leases_(config, context, placement_, queue_, deadlines_, events, *this, log),
      losses_(config, context),
      figures_(config.metrics),
      drained_(context.executor),
      has_sessions_(context.executor) {}

void dispatcher::submit(call& fresh, admission_facts&& pool) {
    ++counters_.submitted;
    try {
        take_on(fresh, pool);
        counters_.waited += fresh.state == call_state::queued ? 1 : 0;
    } catch (const std::exception& problem) { // out of memory
        if (fresh.state != call_state::done) {
            fail_unsent(fresh, problem.what());
        }
    }
}

void dispatcher::take_on(call& fresh, admission_facts& pool) {
    receive(fresh);
    if (fresh.refusal) {
        refuse(fresh);
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

void dispatcher::refuse(call& unsendable) {
    try {
        std::rethrow_exception(std::exchange(unsendable.refusal, nullptr));
    } catch (const error& refusal) {
        fail(unsendable, refusal.errc(), info_of(refusal));
    } catch (const std::exception& problem) {
        fail_unsent(unsendable, problem.what());
    } catch (...) {
        fail_unsent(unsendable, "a handler of it could not be copied");
    }
}

/// What the configuration says of its command, where the request says nothing.
void dispatcher::apply_command_options(call& fresh) const noexcept {
    const auto found = config_.commands.find(fresh.req.command());
    if (found == config_.commands.end()) {
        return;
    }
    const auto& options = found->second;
    if (options.timeout && !fresh.req.timeout()) {
        fresh.req.timeout(*options.timeout);
    }
    if (options.queue_timeout && !fresh.req.queue_timeout()) {
        fresh.req.queue_timeout(*options.queue_timeout);
    }
    if (options.idempotent && !fresh.req.has_idempotent()) {
        fresh.req.idempotent(*options.idempotent);
    }
    if (options.idle_timeout && fresh.stream != nullptr && !fresh.req.idle_timeout()) {
        fresh.stream->idle_timeout = *options.idle_timeout;
    }
}

/// From now on its time runs.
void dispatcher::receive(call& fresh) noexcept {
    fresh.holder = this;
    fresh.submitted = context_.now();
    if (!config_.commands.empty()) {
        apply_command_options(fresh);
    }
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
    const auto slot = waiting.slot;
    fail(waiting, code, std::move(info));
    if (!has_held_up_others) {
        return;
    }
    if (slot) {
        serve_slot(*slot);
    }
    serve_all();
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
        fail_unsent(next, problem.what());
    }
    placement_.refresh(to);
    if (next.state == call_state::running) {
        next.sink->on_sent();
    }
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

void dispatcher::serve_slot(std::uint32_t slot) {
    if (auto* const place = placement_.in_slot(slot)) {
        serve(*place);
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

void dispatcher::begin_reset(call& fresh, worker& at) {
    ++counters_.submitted;
    receive(fresh);
    begin(fresh, at, fresh.submitted);
}

void dispatcher::begin(call& next, worker& at, time_point now) {
    if (may_use_lease(next, at, true)) {
        dispatch(next, at, now);
    }
}

call* dispatcher::running_call_of(const lease_claim& lease) {
    call* found = nullptr;
    running_.for_each([&](call& each) { found = lease_of(each) == &lease ? &each : found; });
    return found;
}

} // namespace skep
