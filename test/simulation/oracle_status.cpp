// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The pool's own view, held against what is known. At rest the two have to agree to the last call.

#include "simulation/oracle.hpp"
#include "support/load_of.hpp"

#include <algorithm>
#include <utility>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

std::string both(std::string_view what, std::uint64_t said, std::uint64_t known) {
    return std::string(what) + ": the pool says " + std::to_string(said) + ", but it is " +
           std::to_string(known);
}

bool is_up(worker_state state) {
    return is_running(state) || state == worker_state::suspended;
}

} // namespace

/// The promise of a pool that has no memory for itself: nobody waits, and no worker is left to itself.
void oracle::check_failure(const pool_status& status) {
    if (status.phase != pool_phase::failed) {
        return;
    }
    if (!out_of_memory()) {
        wrong("the pool has failed, though there was memory");
    }
    if (status.in_flight + status.queued > 0) {
        wrong("a pool that has failed has " + std::to_string(status.in_flight + status.queued) + " calls");
    }
    for (const auto& each : workers_) {
        if (each->is_alive() && !each->killed) {
            wrong(each->name() + " outlives its pool's failure");
        }
    }
}

void oracle::check_status(const pool_status& status) {
    const auto open = open_calls();
    const auto besides = open_checkouts() + resets_begun();
    const auto shown = status.in_flight + status.queued;
    if (shown < open || shown > open + besides) {
        wrong(both("open calls", status.in_flight + status.queued, open) + ": " +
              std::to_string(status.in_flight) + " in flight");
    }
    if (status.breaker != circuit_state::closed && !may_be_unavailable() && !out_of_memory()) {
        wrong("the pool holds back starts, though few have failed");
    }
    check_failure(status);
    templates_.check_status(status.preload, are_events_told_);
    check_scaling(status);
    check_call_counters(status.counters);
    check_events(status.counters);
    check_second_sends(status.counters);
    check_worker_counters(status);
    check_sizes(status);
    check_workers(status);
    check_free_workers(status);
    check_recalled();
    check_order(status);
    check_session_order(status);
    check_leases(status);
    check_vacancies(status);
    check_waits(status);
    check_circle(status);
    const bool all_suspended =
        std::none_of(status.workers.begin(), status.workers.end(), [](const auto& each) {
            return is_running(each.state); // one that was resumed by itself, or has calls
        });
    if (status.suspended && all_suspended && !known_suspended_) {
        known_suspended_ = true;
        known_suspended_since_ = world_.now();
    }
}

/// The figures that are read without a hop to the strand.
void oracle::check_load(const load_view& load, const pool_status& status) {
    const auto known = test::text_of_load(test::load_of(status));
    if (test::text_of_load(load) != known) {
        wrong("the load is " + test::text_of_load(load) + ", but the status says " + known);
    }
}

void oracle::check_call_counters(const pool_counters& said) {
    pool_counters known;
    std::uint64_t uncertain = resets_begun(); ///< and streams that were left: as they ended, perhaps
    for (const auto& each : calls_) {
        if (!each.begun || each.aborted) {
            continue;
        }
        ++known.submitted;
        if (!each.completed) {
            continue;
        }
        uncertain += each.is_stream && each.code == errc::cancelled ? 1 : 0;
        ++(each.succeeded ? known.succeeded : known.failed);
        if (!each.succeeded) {
            known.remote_errors += each.code == errc::remote_error ? 1 : 0;
            known.rejected += each.code == errc::pool_saturated ? 1 : 0;
            known.queue_timeouts += each.code == errc::queue_timeout || each.code == errc::no_worker ? 1 : 0;
            known.timeouts += each.code == errc::timeout ? 1 : 0;
            known.cancelled += each.code == errc::cancelled ? 1 : 0;
            known.poisonous += each.code == errc::poisonous_request ? 1 : 0;
        }
    }
    const auto compare = [&](std::string_view what, std::uint64_t pool_counters::*counter) {
        const auto difference =
            std::max(said.*counter, known.*counter) - std::min(said.*counter, known.*counter);
        if (difference > uncertain && !out_of_memory()) {
            wrong(both(what, said.*counter, known.*counter));
        }
    };
    compare("submitted", &pool_counters::submitted);
    compare("succeeded", &pool_counters::succeeded);
    compare("failed", &pool_counters::failed);
    compare("remote_errors", &pool_counters::remote_errors);
    compare("rejected", &pool_counters::rejected);
    compare("queue_timeouts", &pool_counters::queue_timeouts);
    compare("timeouts", &pool_counters::timeouts);
    compare("cancelled", &pool_counters::cancelled);
    compare("poisonous", &pool_counters::poisonous);
    std::uint64_t lent = 0;
    std::uint64_t passed = 0;
    std::uint64_t received = 0;
    std::uint64_t results = 0;
    for (const auto& each : workers_) {
        lent += each->attachments_lent();
        passed += each->attachments_passed();
        received += each->has_lied ? 0 : each->attachments_shown(); // a lie ends the reading
        results += each->has_lied ? 0 : each->results_shared();
    }
    if (said.shared_results < results && !out_of_memory()) {
        wrong(both("shared_results", said.shared_results, results));
    }
    if (said.attachments_received < received && !out_of_memory()) {
        wrong(both("attachments_received", said.attachments_received, received));
    }
    if (said.attachments_passed < passed) {
        wrong(both("attachments_passed", said.attachments_passed, passed));
    }
    if (said.attachments_lent < lent) {
        wrong(both("attachments_lent", said.attachments_lent, lent));
    }
}

/// What cannot be told exactly: whether a worker's last answer was heard, and who was sent half of a frame.
void oracle::check_second_sends(const pool_counters& said) {
    std::uint64_t surely_late = 0;
    std::uint64_t perhaps_late = 0;
    std::uint64_t surely_again = 0;
    std::uint64_t denied = 0;
    std::uint64_t perhaps_denied = 0; ///< streams whose callers did not wait for that
    std::uint64_t begun_again = 0;
    for (const auto& call : calls_) {
        surely_again += call.visits.size() > 1 ? call.visits.size() - 1 : 0;
        denied += call.was_denied ? 1 : 0;
        perhaps_denied += call.is_stream && call.code == errc::cancelled ? 1 : 0;
        for (std::size_t i = 1; i < call.visits.size(); ++i) {
            begun_again += call.visits[i - 1].begun ? 1 : 0;
        }
        for (const auto& stay : call.visits) {
            const bool is_its_reply = call.succeeded && call.replied == stay.at;
            const bool is_its_error = call.completed && !call.succeeded && stay.delivered &&
                                      !stay.error.empty() && code_of_error(call, stay) == call.code;
            const bool is_late =
                stay.delivered && !stay.returned && !is_its_reply && (call.completed || call.is_reset);
            perhaps_late += is_late ? 1 : 0;
            const bool was_left = call.is_stream && call.code == errc::cancelled;
            surely_late += is_late && !call.is_reset && !is_its_error && !stay.in_doubt && !was_left ? 1 : 0;
        }
    }
    if (out_of_memory()) {
        return;
    }
    if (said.late_answers < surely_late || said.late_answers > perhaps_late) {
        wrong(both("late answers", said.late_answers, surely_late));
    }
    if (said.recalled > returned_) {
        wrong(both("recalled", said.recalled, returned_));
    }
    if (said.retried < surely_again) {
        wrong(both("retried", said.retried, surely_again));
    }
    if (said.retries_denied < denied || said.retries_denied > denied + perhaps_denied) {
        wrong(both("retries denied", said.retries_denied, denied));
    }
    // Each took a token, and more than half of them was always left.
    const auto tokens = static_cast<double>(
        std::max(config_.retry.budget,
                 4 * std::max({config_.capacity, config_.threads_per_worker, most_in_batch("work")})));
    const auto most = tokens / 2 + config_.retry.budget_ratio * static_cast<double>(said.succeeded);
    if (config_.retry.budget > 0 && static_cast<double>(begun_again) > most) {
        wrong(both("retries that the budget allows", static_cast<std::uint64_t>(most), begun_again));
    }
}

void oracle::check_worker_counters(const pool_status& status) {
    const auto& said = status.counters;
    const auto ended =
        said.workers_lost + said.workers_replaced + said.workers_recycled + said.workers_removed;
    if (said.workers_started != ended + status.live + status.retiring) {
        wrong(both("workers that were ready", said.workers_started, ended + status.live + status.retiring));
    }
    std::uint64_t seen = 0;
    std::uint64_t surely_seen = 0;
    std::uint64_t gone = 0;
    std::uint64_t crashed = 0;
    std::uint64_t all_crashed = 0;
    std::uint64_t held = 0;
    std::uint64_t unanswered = 0;
    std::uint64_t missed = 0;
    std::uint64_t condemned = 0;
    bool all_well = !late();
    bool all_seen = true; ///< no ping waits to be sent
    for (const auto& each : workers_) {
        const bool closes =
            each->plan().what == flaw::closes_control || each->plan().what == flaw::closes_data;
        const bool unhindered = each->ready_seen && !closes &&
                                !(each->asked < *each->ready_seen && each->asked) &&
                                !(each->terminated && *each->terminated <= *each->ready_seen) &&
                                !(each->killed && *each->killed <= *each->ready_seen) &&
                                !(each->exited && *each->exited <= *each->ready_seen);
        seen += each->ready_seen ? 1 : 0;
        surely_seen += unhindered ? 1 : 0;
        const bool is_gone = each->start_failed || (each->start_returned && !each->is_held_by_pool());
        gone += is_gone ? 1 : 0;
        held += is_gone ? 0 : 1;
        all_well = all_well && !each->did_wrong;
        all_seen = all_seen && !each->has_had_backlog();
        const bool may_thaw = each->plan().what == flaw::freezes && each->plan().frozen_for > 0s;
        unanswered += each->pings - (may_thaw ? 0 : each->pongs); // then it answers what was missed long ago
        missed += each->pings_missed;
        condemned += each->is_condemned ? 1 : 0;
        all_crashed += is_gone && each->ready_seen && each->is_crash() ? 1 : 0;
        const bool may_be_replaced = was_to_be_replaced(*each) || was_sick(*each);
        crashed += is_gone && unhindered && each->is_crash() && !may_be_replaced ? 1 : 0;
    }
    if ((said.workers_started < surely_seen && !out_of_memory()) || said.workers_started > seen) {
        wrong(both("workers that came up", said.workers_started, surely_seen));
    }
    if (said.crashes > said.workers_lost || said.crashes > all_crashed) {
        wrong(both("crashes", said.crashes, crashed));
    }
    // A pool that has failed may not have told an end, and shows the worker until it is started again or shut
    // down. A pool that failed in its shutdown ends its workers at once, and lets go of each a little later.
    const bool failed_in_shutdown = status.phase == pool_phase::stopped && out_of_memory();
    const bool is_exact = status.phase != pool_phase::failed && !failed_in_shutdown;
    if (is_exact && status.live + status.starting + status.retiring != held) {
        wrong(both("workers there are", status.live + status.starting + status.retiring, held));
    }
    if (said.start_failures > gone - std::min(gone, ended) && !out_of_memory()) {
        wrong(both("start failures", said.start_failures, gone - ended));
    }
    if (!may_stop_workers() && running_ && !out_of_memory()) {
        if (said.crashes < crashed) {
            wrong(both("crashes", said.crashes, crashed));
        }
        if (said.start_failures != gone - ended) {
            wrong(both("start failures", said.start_failures, gone - ended));
        }
        if (said.workers_removed + said.workers_recycled > 0) {
            wrong("workers were removed or recycled that nobody asked for");
        }
    }
    if (said.unhealthy_workers_terminated < condemned && !out_of_memory()) {
        wrong(both("unhealthy workers", said.unhealthy_workers_terminated, condemned));
    }
    if (said.missed_pings + pings_asked_ < missed && !late() &&
        !out_of_memory()) { // a user's ping judges nobody
        wrong(both("missed pings", said.missed_pings, missed));
    }
    if (said.missed_pings > unanswered && all_seen && !late()) {
        wrong(both("missed pings", said.missed_pings, unanswered));
    }
    if (all_well && said.missed_pings + said.workers_lost > 0 && !out_of_memory()) {
        wrong("the pool says that well workers missed pings or were lost");
    }
}

/// What nobody has asked for is the autoscaler's work, and counted.
void oracle::check_scaling(const pool_status& status) {
    const auto before = std::exchange(
        last_scaling_, {status.desired, status.counters.scale_ups, status.counters.scale_downs});
    if (resized_ || before.desired == 0 || out_of_memory()) {
        return;
    }
    const bool grew_uncounted = status.desired > before.desired && status.counters.scale_ups == before.ups;
    const bool shrank_uncounted =
        status.desired < before.desired && status.counters.scale_downs == before.downs;
    const bool is_counted_in_vain = limits_.min == limits_.max && status.counters.scale_ups > 0;
    if (grew_uncounted || shrank_uncounted || is_counted_in_vain) {
        wrong(both("changes of the number of workers",
                   status.counters.scale_ups + status.counters.scale_downs, before.ups + before.downs));
    }
}

void oracle::check_sizes(const pool_status& status) {
    if (status.desired < limits_.min || status.desired > limits_.max) {
        wrong("there are to be " + std::to_string(status.desired) + " workers, which is beyond the limits");
    }
    if (const auto expected = std::exchange(expected_size_, 0);
        expected != 0 && (expected == 1 ? status.desired != 1 : status.desired < expected)) {
        wrong(both("workers that the load calls for", status.desired, expected));
    }
    std::size_t retried = 0;
    for (const auto number : open_) {
        const auto& call = calls_[number - 1];
        const bool was_sent = !call.visits.empty() || call.returned_by != nullptr || may_be_at_dead(call);
        retried += was_sent || call.lease != nullptr ? 1 : 0;
    }
    retried += most_in_batch("work") > 1 ? *config_.workers * most_in_batch("work") : 0; // gathered
    retried += open_checkouts(); // one that was granted a worker that ended waits again
    const bool may_be_unseen = std::any_of(workers_.begin(), workers_.end(),
                                           [](const auto& each) { return each->has_had_backlog(); });
    if (!may_be_unseen && status.queued > config_.queue.limit + retried) {
        wrong(both("calls that wait", status.queued, config_.queue.limit));
    }
}

void oracle::check_workers(const pool_status& status) {
    std::map<std::uint32_t, int> in_place;
    std::size_t live = 0;
    std::size_t starting = 0;
    std::size_t retiring = 0;
    for (const auto& each : status.workers) {
        const auto* const real = find(each.id);
        const bool is_vacant = each.state == worker_state::created || each.state == worker_state::pending;
        if (real == nullptr || is_vacant) {
            if (!is_vacant) {
                wrong(to_string(each.id) + " was never started, but the pool shows it");
            }
            continue;
        }
        in_place[each.id.slot] += each.retiring ? 0 : 1;
        (each.retiring ? retiring : is_up(each.state) ? live : starting) += 1;
        if (each.retiring) {
            known_leaving_.emplace(each.id, world_.steps());
        }
        check_worker_status(each, *real);
        if (real->is_alive() && real->is_starved() && !real->has_had_backlog() && !real->is_lost() &&
            !out_of_memory()) {
            wrong(real->name() + " waits for credit that nobody will give it");
        }
        if (status.phase == pool_phase::running) {
            check_age(each);
        }
    }
    for (const auto& [slot, count] : in_place) {
        const bool may_be_succeeded = may_stop_workers();
        if (count > (may_be_succeeded ? 2 : 1)) {
            wrong("slot " + std::to_string(slot) + " has " + std::to_string(count) + " workers");
        }
    }
    if (live != status.live || starting > status.starting || retiring < status.retiring) {
        wrong(both("live workers", status.live, live));
    }
    const auto spare = may_stop_workers() ? config_.recycle.max_recycling : 0;
    if (live + starting > status.desired + spare) {
        wrong(both("workers there are to be", status.desired, live + starting));
    }
}

void oracle::check_worker_status(const worker_status& shown, const sim_worker& real) {
    const auto name = real.name();
    const bool ends_with_state = shown.last_transition && shown.last_transition->to == shown.state;
    if (!ends_with_state && !out_of_memory()) { // for an entry; the state is what it is all the same
        wrong(name + "'s history does not end with its state");
    }
    if (shown.pid != 0 && shown.pid != real.pid()) {
        wrong(both(name + "'s pid", static_cast<std::uint64_t>(shown.pid),
                   static_cast<std::uint64_t>(real.pid())));
    }
    if (!is_up(shown.state) || out_of_memory()) {
        return;
    }
    if (shown.capacity != real.capacity()) {
        wrong(both(name + "'s capacity", shown.capacity, real.capacity()));
    }
    if (!real.has_had_backlog() && !real.did_wrong && shown.load != real.load()) {
        wrong(both(name + "'s load", shown.load, real.load()));
    }
    if (!real.did_wrong && (shown.completed != real.answers_seen || shown.errors != real.errors_seen)) {
        wrong(both(name + "'s answers", shown.completed, real.answers_seen));
    }
    const bool is_full = shown.load >= shown.capacity || shown.leased >= shown.capacity;
    const bool may_be_full =
        shown.load + shown.leased >= shown.capacity; // calls of leases are in their places
    if ((shown.state == worker_state::busy && !may_be_full) ||
        (shown.state == worker_state::ready && is_full)) {
        wrong(name + " has " + std::to_string(shown.load) + " calls and is shown as " +
              std::string(to_string(shown.state)));
    }
    if (!shown.retiring && real.probes_failed >= config_.health_check.failures) {
        wrong(name + " has failed " + std::to_string(real.probes_failed) + " probes, and is still there");
    }
    check_probed(shown, real);
    if (!shown.retiring && shown.uptime != world_.now() - *real.ready_seen) {
        wrong(name + "'s uptime is wrong");
    }
    if (real.asked || real.terminated || real.killed) {
        wrong(name + " was told to end, and is shown as " + std::string(to_string(shown.state)));
    }
}

/// One with a check of its own is probed under load, too: as soon as a place is free, though others may be
/// first.
void oracle::check_probed(const worker_status& shown, const sim_worker& real) {
    const auto& options = config_.health_check;
    const auto since = std::max(real.probe_sent, *real.ready_seen);
    const auto turns = (options.timeout + options.retry_interval) * static_cast<int>(*config_.workers + 1);
    if (!options.enabled || !real.plan().has_probe || !real.plan().own_probe || shown.retiring || late() ||
        suspended_.contains(shown.id) || world_.now() < since + options.interval + turns) {
        overdue_.erase(shown.id);
        return;
    }
    const auto first = overdue_.emplace(shown.id, real.answers_seen).first->second;
    if (real.answers_seen > first + 2 * (shown.capacity + most_ahead(real)) * most_in_batch("work") &&
        !real.has_had_backlog()) {
        wrong(real.name() + " answers calls and is not probed between them");
    }
}

} // namespace skep::simulation
