// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What the pool tells of itself by events is what its counters say, and its figures.

#include "simulation/oracle.hpp"

namespace skep::simulation {

void oracle::on_event(const event& what) {
    const spared_by_faults here;
    if (const auto* const finished = std::get_if<events::request_finished>(&what)) {
        ++(finished->outcome == "ok" ? told_.succeeded : told_.failed);
        ++told_.outcomes[finished->outcome];
        told_.sent += finished->attempts > 0 ? 1 : 0;
    } else if (const auto* const missed = std::get_if<events::heartbeat_missed>(&what)) {
        told_.missed_pings += static_cast<std::uint64_t>(missed->count);
    } else if (const auto* const passed = std::get_if<events::worker_transition>(&what)) {
        check_transition(*passed);
    } else if (const auto* const ended = std::get_if<events::worker_terminated>(&what)) {
        check_departure(*ended);
    } else if (const auto* const started = std::get_if<events::template_started>(&what)) {
        templates_.on_event(*started);
    } else if (const auto* const lost = std::get_if<events::template_ended>(&what)) {
        templates_.on_event(*lost);
    } else if (const auto* const refused = std::get_if<events::template_refused>(&what)) {
        templates_.on_event(*refused);
    }
    told_.failures += std::holds_alternative<events::request_failed>(what) ? 1 : 0;
    told_.retried += std::holds_alternative<events::request_retried>(what) ? 1 : 0;
    told_.recalled += std::holds_alternative<events::request_recalled>(what) ? 1 : 0;
    told_.workers_started += std::holds_alternative<events::worker_ready>(what) ? 1 : 0;
    told_.scale_ups += std::holds_alternative<events::pool_scale_up>(what) ? 1 : 0;
    told_.scale_downs += std::holds_alternative<events::pool_scale_down>(what) ? 1 : 0;
}

/// What is told of a worker is one way through its lifecycle.
void oracle::check_transition(const events::worker_transition& passed) {
    auto& state = told_states_.emplace(passed.worker, worker_state::created).first->second;
    if (!out_of_memory() && (passed.from != state || !is_legal(passed.from, passed.to))) {
        wrong(to_string(passed.worker) + " was told to be " + std::string(to_string(state)) +
              " and to go from " + std::string(to_string(passed.from)) + " to " +
              std::string(to_string(passed.to)));
    }
    state = passed.to;
    if (passed.to == worker_state::stopping) {
        told_stops_.emplace(passed.worker, passed.code);
    }
    const auto stop = told_stops_.find(passed.worker);
    if (stop != told_stops_.end() && stop->second != passed.code && !out_of_memory()) {
        wrong(to_string(passed.worker) + " was stopped for " + std::string(to_string(stop->second)) +
              ", and ended for " + std::string(to_string(passed.code)));
    }
}

/// A departure names what ended the worker: its own end if nobody stopped it, and something else if somebody
/// did.
void oracle::check_departure(const events::worker_terminated& told) {
    told_ends_.emplace(told.worker, told.reason);
    const auto* const which = find(told.worker);
    if (which == nullptr || !which->exited || out_of_memory()) {
        return;
    }
    const bool names_exit = told.reason.starts_with("its process ended");
    // One that is to be terminated prints its stacks first, and may end as it does.
    const bool may_print_stacks =
        which->froze || may_have_been_overdue(*which) || which->plan().has_probe || which->reset_failed;
    // One that has ended reads no more that it is to end.
    const bool was_asked = which->stopped_at_step != 0 || shutting_down_;
    if (!names_exit && which->exited_by_itself && !was_asked && !which->has_lied && !may_print_stacks &&
        which->ready_seen && !late()) {
        wrong(which->name() + " ended by itself, and was told to have ended as " + told.reason);
    }
    if (names_exit && !which->exited_by_itself) {
        wrong(which->name() + " was ended, and was told to have ended by itself");
    }
}

/// Callers are told what the pool tells of the worker's end.
void oracle::check_causes_told() {
    for (const auto& [worker, cause] : causes_of_loss_) {
        const auto end = told_ends_.find(worker);
        if (end != told_ends_.end() && !cause.starts_with(end->second)) {
            wrong("a caller was told that " + to_string(worker) + " was lost as " + cause +
                  ", but it ended as " + end->second);
        }
    }
}

void oracle::on_span(const events::span& what) {
    const spared_by_faults here;
    const bool is_call = what.kind == "client";
    told_.call_spans += is_call ? 1 : 0;
    told_.run_spans += !is_call && what.what != "help" && what.links.empty() ? 1 : 0;
}

void oracle::check_events(const pool_counters& said) {
    if (!are_events_told_ || out_of_memory()) {
        return;
    }
    const auto compare = [&](std::string_view what, std::uint64_t told, std::uint64_t counted) {
        agree("events", "counters", what, told, counted);
    };
    compare("calls that succeeded", told_.succeeded, said.succeeded);
    compare("calls that failed", told_.failed, said.failed);
    compare("failures of calls", told_.failures, said.failed);
    compare("retries", told_.retried, said.retried);
    compare("recalls", told_.recalled, said.recalled);
    compare("workers that came up", told_.workers_started, said.workers_started);
    compare("calls, by their spans,", told_.call_spans, said.succeeded + said.failed);
    agree("spans", "events", "calls that were sent", told_.run_spans, told_.sent);
    compare("missed pings", told_.missed_pings, said.missed_pings);
    compare("times it grew", told_.scale_ups, said.scale_ups);
    compare("times it shrank", told_.scale_downs, said.scale_downs);
}

void oracle::agree(std::string_view one, std::string_view other, std::string_view what, std::uint64_t first,
                   std::uint64_t second) {
    if (first != second) {
        wrong("of " + std::string(what) + " " + std::string(one) + " know " + std::to_string(first) + ", " +
              std::string(other) + " " + std::to_string(second));
    }
}

void oracle::check_metrics(const pool_metrics& metrics) {
    if (out_of_memory()) {
        return;
    }
    const auto& counters = metrics.status.counters;
    const auto calls = metrics.calls();
    const auto compare = [&](std::string_view what, std::uint64_t figure, std::uint64_t counted) {
        agree("figures", "counters", what, figure, counted);
    };
    compare("calls that succeeded", calls.succeeded, counters.succeeded);
    compare("calls that failed", calls.failures(), counters.failed);
    compare("waits", calls.queue_time.count(), counters.succeeded + counters.failed);
    compare("starts", metrics.start_time.count(), counters.workers_started);
    if (!are_events_told_) {
        return;
    }
    agree("figures", "events", "calls that were sent", calls.run_time.count(), told_.sent);
    agree("figures", "events", "kinds of failure", calls.failed.size(),
          told_.outcomes.size() - told_.outcomes.count("ok"));
    for (const auto& [code, count] : calls.failed) {
        agree("figures", "events", to_string(code), count, told_.outcomes[std::string(to_string(code))]);
    }
}

} // namespace skep::simulation
