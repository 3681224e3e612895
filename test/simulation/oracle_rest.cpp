// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What must be true whenever nothing can happen before time passes.

#include "simulation/oracle.hpp"

#include <algorithm>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

/// When a call of the batch was last answered or given up: until then the worker need not end the others.
time_point last_change_in_place_of(const sim_worker& which, const visit& stay) {
    time_point last{};
    for (const auto& [call, index] : which.calls()) {
        const auto& other = call->visits[index];
        if (other.place == stay.place) {
            last = std::max({last, other.delivered.value_or(last), call->completed.value_or(last)});
        }
    }
    return last;
}

} // namespace

void oracle::check_rest() {
    for (auto each = open_.begin(); each != open_.end();) {
        auto& call = calls_[*each - 1];
        if (!call.is_open()) {
            each = open_.erase(each);
            continue;
        }
        check_open_call(call);
        ++each;
    }
    for (const auto& each : workers_) {
        if (each->is_alive() || (!each->start_returned && !each->start_failed)) {
            check_worker(*each);
        }
    }
    check_leases();
    check_report();
    check_tools();
    check_tries();
    templates_.check_rest();
}

/// Whether it may have been sent to a worker whose end was not known yet: one that has closed its channel,
/// perhaps while the host stood still, takes nothing, and what it was sent comes back when it is gone.
bool oracle::may_be_at_dead(const call_record& call) const {
    return std::any_of(workers_.begin(), workers_.end(), [&](const auto& each) {
        return each->exited >= call.submitted || each->closed >= call.submitted ||
               (each->closed && !each->exited);
    });
}

/// Likewise, or to one that the pool has given up.
bool oracle::may_be_at_lost(const call_record& call) const {
    return may_be_at_dead(call) || std::any_of(workers_.begin(), workers_.end(), [&](const auto& each) {
               const bool is_closed_unseen = each->closed && !each->terminated;
               return is_closed_unseen || each->lie_seen >= call.submitted ||
                      each->terminated >= call.submitted || each->killed >= call.submitted ||
                      each->has_had_backlog();
           });
}

void oracle::check_open_call(const call_record& call) {
    if (out_of_memory()) {
        return;
    }
    const auto now = world_.now();
    if (!world_.is_in_time(call.deadline(), now)) {
        wrong(about(call) + " has not ended, though its deadline has passed");
    }
    const bool is_seen = !call.visits.empty();
    const bool may_be_unseen = std::any_of(workers_.begin(), workers_.end(),
                                           [](const auto& each) { return each->has_had_backlog(); });
    const auto longest = after_limit(call.submitted, call.queue_timeout);
    if (!is_seen && !may_be_at_lost(call) && !world_.is_in_time(longest, now) &&
        call.returned_by == nullptr) {
        wrong(about(call) + " still waits for a worker, though its queue timeout has passed");
    }
    const bool may_be_held = most_in_batch("work") > 1 && weather_.batch_wait > 0s; // or be behind one
    if (!is_seen && call.submitted < newest_sent_ && !may_be_at_lost(call) && !call.is_bound() &&
        call.returned_by == nullptr && !may_be_held) {
        wrong(about(call) + " still waits for a worker, though one that was made later was sent to one");
    }
    if (is_seen && call.visits.back().owed) {
        wrong(about(call) + " has not ended, though its answer has arrived");
    }
    const bool counts = call.cancelled_how != boost::asio::cancellation_type::total ||
                        (!is_seen && !may_be_unseen && !may_be_at_dead(call));
    if (call.cancelled && counts) {
        wrong(about(call) + " has not ended, though it was cancelled");
    }
    const auto reports = is_seen ? call.visits.back().progress_delivered : 0;
    if (reports > 0 && call.progress_seen != reports && !call.visits.back().at->is_lost()) {
        wrong(about(call) + ": its caller was not told of the newest progress");
    }
    if (is_seen && call.visits.back().told_to_stop) {
        wrong(about(call) + " is open, but its worker was told to cancel it");
    }
    if (call.lease != nullptr) {
        check_leased_call(call);
    }
    if (call.is_strict() && !is_seen) {
        check_wait_for_home(call);
    }
}

/// Faults of a worker that the pool must have noticed by now.
void oracle::check_worker(sim_worker& which) {
    const auto now = world_.now();
    const bool is_stopped = which.asked || which.terminated || which.killed;
    if (out_of_memory() || is_stopped) {
        return;
    }
    const auto to_be_gone = which.did_wrong ? 600ms : 2us; // it may be on its way out, for another reason
    const bool may_be_in_line = config_.launch.preload && !which.start_returned; // of the spawner's jobs
    const auto to_be_cancelled = config_.start.timeout + (may_be_in_line ? 1s : 0s);
    if (!which.ready_seen && !late() && now > which.started + to_be_cancelled + to_be_gone) {
        wrong(which.name() + " has not come up in time, and is still there");
    }
    if (which.lie_seen && now > *which.lie_seen + 1s + config_.stop.stack_dump_timeout) {
        wrong(which.name() + " has broken the protocol, and is still there");
    }
    const auto& beat = config_.heartbeat;
    if (which.ready_seen && which.froze && beat.enabled && beat.dependent && !late()) {
        const auto longest = std::max(duration(0s), *which.ready_seen + beat.initial_delay - *which.froze) +
                             beat.timeout + (beat.misses + 1) * beat.interval +
                             config_.stop.stack_dump_timeout;
        if (now > *which.froze + longest + 10us) {
            wrong(which.name() + " is frozen, and is still there");
        }
    }
    const bool has_closed = which.closed || (which.did_wrong && which.plan().what == flaw::closes_control);
    const bool is_ending = which.lie_seen || has_closed; // its process has a moment to end by itself
    if (which.ready_seen && !is_ending && config_.recycle.hard_memory > 0 &&
        which.resident() > config_.recycle.hard_memory) {
        const auto over = std::chrono::duration<double>(
            static_cast<double>(which.resident() - config_.recycle.hard_memory) /
            static_cast<double>(which.plan().growth));
        const bool prints_stacks = may_have_been_overdue(which) || was_sick(which);
        const auto to_print_stacks = prints_stacks ? config_.stop.stack_dump_timeout : 0s;
        const auto to_be_noticed = config_.recycle.memory_interval + to_print_stacks;
        if (over > to_be_noticed + 1ms && now > *which.ready_seen + to_be_noticed && !late() && running_ &&
            !shutting_down_ && now > *running_since_ + config_.recycle.memory_interval) {
            wrong(which.name() + " has outgrown its hard limit, and is still there");
        }
    }
    if (which.is_kept_waiting() && !which.did_wrong &&
        !was_overdue(which)) { // who is overdue is told no more
        wrong(which.name() + " has room again, and is not sent the rest");
    }
    check_given_up(which);
    if (!which.unknown_cancels.empty() && !which.did_wrong && !which.has_had_backlog()) {
        wrong(which.name() + " was told to cancel a call that it was never sent");
    }
}

/// Its worker is told of a call that was given up, and if it does not end it has to go, once nobody else
/// waits for it.
void oracle::check_given_up(const sim_worker& which) {
    if (which.did_wrong || which.has_had_backlog() || late()) {
        return;
    }
    std::optional<time_point> overdue;
    time_point heard{};
    bool somebody_waits = false;
    for (const auto& [call, index] : which.calls()) {
        const auto& stay = call->visits[index];
        if (stay.delivered) {
            heard = std::max(heard, *stay.delivered);
        }
        if (stay.delivered || stay.answered) {
            somebody_waits = somebody_waits || !stay.delivered; // it is as good as done
            continue;
        }
        if (!call->completed) {
            somebody_waits = somebody_waits || stay.begun;
            continue;
        }
        if (!stay.told_to_stop) {
            wrong(which.name() + " was not told that nobody waits for " + about(*call) + " any more");
        }
        if (stay.begun) {
            const auto since =
                std::max({*call->completed, *stay.begun, last_change_in_place_of(which, stay)});
            overdue = std::max(overdue.value_or(since), since);
        }
    }
    const auto longest = 2 * config_.cancel_grace; // one that is retired gets it twice if others wait behind
    if (overdue && !somebody_waits &&
        world_.now() > std::max(*overdue + longest, heard) + config_.stop.stack_dump_timeout + 1s) {
        wrong(which.name() + " is still at a call that was given up long ago");
    }
}

void oracle::check_end(bool context_was_destroyed) {
    for (const auto& each : calls_) {
        if (each.is_open() && !context_was_destroyed) {
            wrong(about(each) + " has never ended");
        }
    }
    for (const auto& each : workers_) {
        check_gone(*each, context_was_destroyed);
    }
    check_causes_told();
    templates_.check_end();
    if (!context_was_destroyed) {
        check_tools_are_over();
    }
    if (runtimes != 0) {
        wrong("the runtime was not destroyed");
    }
}

void oracle::check_gone(const sim_worker& which, bool context_was_destroyed) {
    if (!which.start_returned) {
        return;
    }
    if (which.is_held_by_pool()) {
        wrong(which.name() + " is still held by the pool");
    }
    if (!which.exited && !which.was_abandoned) {
        wrong(which.name() + " was left behind");
    }
    if (which.exited && which.has_company) {
        wrong(which.name() + " has left others of its group behind");
    }
    if (which.reaps > 1) {
        wrong(which.name() + " was reaped " + std::to_string(which.reaps) + " times");
    }
    if (which.exit_noticed && which.reaps == 0 && !which.was_abandoned) {
        wrong(which.name() + " was never reaped");
    }
    if (which.was_ended_now && !context_was_destroyed && !out_of_memory()) {
        wrong(which.name() + " was ended as if no coroutine would run again");
    }
    if (!which.was_finished && !which.was_ended_now && !context_was_destroyed) {
        wrong("the output of " + which.name() + " was not read to its end");
    }
    const bool is_plain = !which.did_wrong || (which.exited_by_itself && comes_up(which.plan().what));
    for (const auto& [call, index] : which.calls()) {
        const auto& stay = call->visits[index];
        const bool waited = call->completed && stay.answered && *call->completed > *stay.answered + 1s;
        const bool is_excused = which.has_lied || which.was_abandoned || late() || out_of_memory();
        if (waited && !stay.delivered && is_plain && !is_excused) {
            wrong("the answer of " + which.name() + " to " + about(*call) + " was never read");
        }
    }
}

} // namespace skep::simulation
