// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/pool_core.hpp"

#include "pool/demand/tool_cycle.hpp"

namespace skep {

pool_core::pool_core(pool_context context, pool_config config, const runtime_factory& make_runtime,
                     pool_membership of_manager)
    : outcomes_(parts_, config.health_check.error_streak),
      parts_(
          std::move(context), std::move(config), make_runtime,
          [this](const output_line& line) { on_printed(line); }, outcomes_,
          boundary([this](const std::exception_ptr& problem) { break_down(problem); }),
          event_queue([this] { events_.wake(); }, [this] { events_.apply_all(); }),
          std::move(of_manager.share)),
      start_(parts_, outcomes_, of_manager.starts_again),
      shutdown_(parts_, start_),
      inspection_(parts_.context, parts_.config.heartbeat, parts_.workers, parts_.changed),
      events_(parts_, outcomes_, inspection_, shutdown_),
      sessions_(parts_),
      exhausted_(parts_.failure(errc::out_of_memory)) {}

void pool_core::enroll() {
    parts_.surroundings.owner = weak_from_this();
    sessions_.watch();
    context_guard::enroll(executor().get_inner_executor(), shared_from_this());
}

void pool_core::on_printed(const output_line& line) {
    if (!inspection_.take_stack_line(line)) {
        outcomes_.output().on_printed(line);
    }
}

/// Ends the pool after a failure that the pool cannot survive: completes every open call and checkout, and
/// kills every worker with its group. Uses only memory allocated before. Completes open claims each time,
/// because refusing a call may fail as well.
void pool_core::break_down(const std::exception_ptr& problem) noexcept {
    auto& state = parts_.state;
    const bool is_first = state.phase != pool_phase::failed && state.phase != pool_phase::stopped;
    const bool was_stopping = state.phase == pool_phase::stopping;
    if (is_first) {
        state.spare.reset();
        state.broken.emplace(exhausted_);
        try {
            std::rethrow_exception(problem);
        } catch (const error& failure) {
            state.broken.emplace(failure);
        } catch (...) {}
        state.phase = was_stopping ? pool_phase::stopped : pool_phase::failed;
        parts_.log(log_level::error, "the pool has failed", problem);
    }
    const auto aborted = parts_.calls.break_down(state.broken ? *state.broken : exhausted_);
    shutdown_.count_aborted(was_stopping ? aborted : 0);
    if (is_first) {
        end_broken(was_stopping);
    }
}

void pool_core::end_broken(bool was_stopping) noexcept {
    auto& tasks = parts_.tasks;
    parts_.hooks.cancel_start();
    for (auto* const each : {&tasks.supply, &tasks.demand, &tasks.phases, &tasks.retries, &tasks.delays,
                             &parts_.waits.changes()}) {
        each->cancel();
    }
    parts_.calls.sessions().cancel_touches();
    parts_.calls.homes().cancel();
    parts_.supervision.end_launch();
    parts_.supervision.kill_all();
    start_.break_off();
    if (was_stopping) { // ends the waits for the shutdown
        parts_.supervision.end_now();
        parts_.starter->close();
        shutdown_.end();
    }
    while (!parts_.events.empty()) {
        try {
            events_.apply_all();
        } catch (...) {} // the failed event is already taken
    }
    parts_.changed.notify_all();
    if (!was_stopping) {
        start_.retry();
    }
}

error pool_core::failure_of(const std::exception_ptr& problem, bool was_cancelled) noexcept {
    try {
        try {
            std::rethrow_exception(problem);
        } catch (const boost::system::system_error& failure) {
            if (const auto* const stated = dynamic_cast<const error*>(&failure)) {
                return *stated;
            }
            // The operation's task was cancelled.
            const auto& broken = parts_.state.broken;
            return was_cancelled || !broken
                       ? parts_.failure(was_cancelled ? errc::cancelled : errc::shutting_down)
                       : *broken;
        }
    } catch (...) {
        parts_.limit.cross(std::current_exception());
        return exhausted_;
    }
}

inline admission_facts pool_core::facts_of_admission() { // for each call
    const auto& state = parts_.state;
    admission_facts facts;
    facts.phase = state.phase;
    facts.failure = state.broken ? state.broken->kind() : errc::out_of_memory;
    facts.has_start_failed = state.failed_start.has_value();
    facts.is_unavailable = parts_.supervision.is_unavailable();
    return facts;
}

void pool_core::refuse_if_forked() const {
    if (is_forked()) {
        throw parts_.failure(errc::forked);
    }
}

void pool_core::check_out(lease_claim& new_lease) {
    parts_.leases.receive(new_lease);
    parts_.events.catch_up();
    std::optional<route_refusal> refusal;
    if (const auto code = refusal_of(facts_of_admission())) {
        refusal.emplace(route_refusal{*code, cause_of_refusal()});
    }
    parts_.leases.check_out(new_lease, refusal);
    parts_.scaling.on_waiting();
}

void pool_core::submit(call& new_call) {
    auto& calls = parts_.calls;
    calls.receive(new_call);
    parts_.events.catch_up();
    auto facts = facts_of_admission();
    facts.is_part_of_another = calls.is_part_of_running_call(new_call);
    if (const auto refusal = refusal_of(facts)) {
        calls.refuse(new_call, *refusal, cause_of_refusal());
        return;
    }
    const bool may_grow = outer_of(new_call) != nullptr && parts_.may_get_more_workers();
    calls.submit(new_call, may_grow);
    if (calls.open_calls().next_for_any() != nullptr) {
        parts_.scaling.on_waiting();
    }
}

void pool_core::take_chunks(call& streaming_call, stream_credit taken_credit) {
    parts_.events.catch_up();
    parts_.calls.answers().take_chunks(streaming_call, taken_credit);
}

/// Returns the cause of the pool's refusal of calls.
error_info pool_core::cause_of_refusal() const {
    if (const auto* const failed = parts_.state.problem()) {
        return failed->info();
    }
    return parts_.state.phase == pool_phase::running ? parts_.supervision.last_cause() : error_info();
}

void pool_core::end_now(const asio::execution_context&) noexcept {
    parts_.supervision.end_now();
    parts_.starter->close(); // ends a launch under way, and the rest of the workers' groups
    parts_.waits.drop_callers();
    parts_.calls.open_calls().drop_callers();
}

void pool_core::require_running() {
    parts_.events.catch_up();
    const auto& state = parts_.state;
    switch (state.phase) {
    case pool_phase::running: return;
    case pool_phase::created:
        if (state.failed_start) {
            throw *state.failed_start;
        }
        [[fallthrough]];
    case pool_phase::starting: throw parts_.failure(errc::not_started);
    case pool_phase::failed: throw *state.broken;
    default: throw parts_.failure(errc::shutting_down);
    }
}

} // namespace skep
