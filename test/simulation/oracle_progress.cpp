// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What the pool's own view says of what should be under way: nobody waits for what is there.

#include "policy/pipelining.hpp"
#include "simulation/oracle.hpp"

#include <algorithm>
#include <utility>

namespace skep::simulation {

using namespace std::chrono_literals;

/// No call waits while a worker could take it.
void oracle::check_free_workers(const pool_status& status) {
    if (status.suspended || status.phase != pool_phase::running || out_of_memory()) {
        return;
    }
    const bool may_be_unseen = std::any_of(workers_.begin(), workers_.end(),
                                           [](const auto& each) { return each->has_had_backlog(); });
    const call_record* waiting = nullptr;
    bool may_be_held = false; // with others behind
    bool is_any_bound = std::any_of(leases_.begin(), leases_.end(), [](const auto& each) {
        return each.waits() && each.insists(); // on a worker
    });
    for (const auto number : open_) {
        const auto& each = calls_[number - 1];
        is_any_bound = is_any_bound || (each.is_open() && each.is_strict());
        waiting = each.is_open() && each.visits.empty() && !each.is_bound() ? &each : waiting;
        may_be_held = may_be_held || (each.is_open() && most_in_batch(each.command) > 1 &&
                                      world_.now() - each.submitted <= weather_.batch_wait);
    }
    const bool is_queued =
        (status.oldest_wait > 0s && !is_any_bound) ||
        (waiting != nullptr && !may_be_unseen && !may_be_at_dead(*waiting) && status.queued > 0);
    const bool is_any_made_by_tool = std::any_of(open_.begin(), open_.end(), [this](auto number) {
        return calls_[number - 1].outer != nullptr; // it is not pipelined, nor overtaken
    });
    const bool has_batches = most_in_batch("work") > 1; // which are pipelined only if they are full
    const auto may_be_pipelined = is_any_made_by_tool || has_batches ? 0 : config_.pipeline_depth.value_or(0);
    const auto idle_before = std::exchange(idle_, {});
    if (!is_queued || may_be_held) {
        return;
    }
    for (const auto& each : status.workers) {
        const bool takes_calls = (each.state == worker_state::ready || each.state == worker_state::busy) &&
                                 !each.retiring && each.health == worker_health::healthy;
        const auto* const real = find(each.id);
        if (!takes_calls || real == nullptr || !has_room(each, *real, may_be_pipelined) ||
            real->has_had_backlog()) {
            continue;
        }
        const bool may_be_doubted = may_await_probe(*real) || suspended_.contains(each.id);
        if (!may_be_doubted || is_idle_for_long(each, *real, idle_before)) {
            wrong((waiting != nullptr ? about(*waiting) : std::string("a call")) + " waits, though " +
                  to_string(each.id) + " is free");
        }
    }
}

/// Whether it can take whoever is first. A checkout may want the whole of it.
bool oracle::has_room(const worker_status& shown, const sim_worker& real,
                      std::size_t may_be_pipelined) const {
    if (shown.leased > 0) {
        const auto probes = shown.load - std::min(shown.load, common_load(real) + leased_load(real));
        return open_checkouts() == 0 && common_load(real) + probes + shown.leased < shown.capacity;
    }
    return shown.load < (open_checkouts() > 0 ? 1 : shown.capacity + may_be_pipelined);
}

/// For longer than it takes until one that is doubted is probed.
bool oracle::is_idle_for_long(const worker_status& shown, const sim_worker& real,
                              const idle_workers& before) {
    if (shown.load > 0) {
        return false;
    }
    const auto last = before.find(shown.id);
    const bool is_the_same = last != before.end() && last->second.sent == real.sent();
    const idle_since now{is_the_same ? last->second.since : world_.now(), real.sent()};
    idle_.emplace(shown.id, now);
    return world_.now() - now.since > config_.health_check.retry_interval + 1s && !late();
}

/// Those that were lost with a worker are first. One that was not delayed is in the queue once its worker is
/// gone.
void oracle::check_order(const pool_status& status) {
    const bool may_be_unseen = std::any_of(workers_.begin(), workers_.end(), [](const auto& each) {
        const bool is_deaf = each->exited || each->closed;
        return each->has_had_backlog() ||
               (is_deaf && each->is_held_by_pool()); // what it is sent, nobody sees
    });
    if (may_be_unseen || status.phase != pool_phase::running || out_of_memory()) {
        return;
    }
    const bool are_delayed = config_.retry.backoff.front() > 0s;
    if (open_checkouts() > 0) {
        return; // which may have been lost with a worker too
    }
    const call_record* lost = nullptr;
    bool is_first = false;
    for (const auto number : open_) {
        const auto& each = calls_[number - 1];
        if (!each.is_open()) {
            continue;
        }
        const bool is_delayed = are_delayed && !was_surely_in_crashed_batch(each);
        if (each.visits.size() == 1 && !each.visits.back().at->is_held_by_pool() && !is_delayed) {
            lost = &each;
        }
        const bool was_sent = !each.visits.empty() || each.returned_by != nullptr || may_be_at_lost(each);
        is_first = is_first || (was_sent && status.oldest_wait == world_.now() - each.submitted);
    }
    if (lost != nullptr && !is_first) {
        wrong(about(*lost) + " was lost with a worker, and waits behind others");
    }
}

/// No call lies for long behind one that does not end.
void oracle::check_recalled() {
    if (config_.pipeline_depth || late() || out_of_memory()) {
        return;
    }
    const auto before = world_.now() - 100ms;
    for (const auto& each : workers_) {
        const bool is_well = each->plan().what == flaw::none && each->ready_seen && !each->is_lost() &&
                             each->stopped_at_step == 0 && !each->has_had_backlog();
        if (!is_well || !each->plan().gives_back) {
            continue;
        }
        const auto begins = [&](const auto& entry) {
            const auto& stay = entry.first->visits[entry.second];
            return stay.begun && (*stay.begun > before || (stay.delivered && *stay.delivered > before));
        };
        if (std::any_of(each->calls().begin(), each->calls().end(), begins)) {
            continue;
        }
        for (const auto& [call, index] : each->calls()) {
            const auto& stay = call->visits[index];
            const bool is_ahead = call->is_open() && !stay.begun && !stay.delivered && stay.sent < before;
            if (is_ahead && call->session.empty() && call->lease == nullptr &&
                !each->recalled.contains(stay.id)) {
                wrong(about(*call) + " lies ahead at " + each->name() + ", and is not recalled");
            }
        }
    }
}

/// A slot that nothing holds back is filled within a few safety ticks.
void oracle::check_vacancies(const pool_status& status) {
    if (status.phase != pool_phase::running || status.breaker != circuit_state::closed) {
        vacant_since_.clear();
        return;
    }
    std::map<worker_id, time_point> vacant;
    for (const auto& each : status.workers) {
        const bool is_vacant = each.state == worker_state::created || each.state == worker_state::pending;
        if (!is_vacant || each.held_for) {
            continue;
        }
        // One that nothing has gone wrong with, and no other to wait for: at once.
        if (each.state == worker_state::created && status.starting == 0 && !out_of_memory()) {
            wrong(to_string(each.id) + " is due, but is not started, though no other is on its way");
        }
        const auto before = vacant_since_.find(each.id);
        const auto since = before == vacant_since_.end() ? world_.now() : before->second;
        vacant.emplace(each.id, since);
        const auto longest =
            5 * (config_.restart.safety_tick + config_.start.batch_delay) + config_.start.timeout;
        if (world_.now() - since > longest && !late()) {
            wrong(to_string(each.id) + " is due, but is not started");
        }
    }
    vacant_since_ = std::move(vacant);
}

/// One that is too old goes when its turn has come and its successor is there.
void oracle::check_age(const worker_status& shown) {
    const auto& stop = config_.stop;
    const bool may_be_held_up = weather_.bad_workers + weather_.bad_starts + weather_.stuck_calls > 0 ||
                                config_.start.timeout < 3s || limits_.min < limits_.max || resized_ ||
                                restarts_ || !suspended_.empty() || pool_suspension_asked_ || late() ||
                                out_of_memory() || config_.initialization.delegate != nullptr;
    const bool may_be_held =
        !leases_.empty() || (!sessions_.empty() && config_.affinity.on_recycle == affinity_on_recycle::wait);
    if (config_.recycle.age == 0s || may_be_held_up || may_be_held || shown.retiring) {
        return;
    }
    const auto pipelined = static_cast<int>(config_.pipeline_depth.value_or(skep::most_ahead(pace::fast)));
    const auto one = config_.start.timeout + (1 + pipelined) * weather_.slowness * weather_.longest_call +
                     stop.shutdown_grace + stop.term_grace + stop.reap_timeout + stop.stack_dump_timeout + 1s;
    const auto age = std::chrono::duration<double>(config_.recycle.age) * (1 + config_.recycle.jitter);
    if (shown.uptime > age + static_cast<int>(limits_.max) * one) {
        wrong(to_string(shown.id) + " is too old, and is still there");
    }
}

/// Whoever waits for something is told when it is there.
void oracle::check_waits(const pool_status& status) {
    if (out_of_memory()) {
        return;
    }
    if (status.suspended && known_resumed_) {
        wrong("the pool was resumed, but says that it is suspended");
    }
    const bool is_hopeless = status.live + status.starting + status.retiring == 0;
    if (status.phase == pool_phase::stopping && status.queued > 0 && is_hopeless) {
        wrong("calls wait in a pool that shuts down and has no worker left");
    }
    if (status.phase == pool_phase::running && status.breaker != circuit_state::closed && status.queued > 0 &&
        is_hopeless) {
        wrong("calls wait in a pool that is unavailable");
    }
    for (const auto& each : waits_) {
        check_wait(each.second, status);
    }
}

void oracle::check_wait(const wait& open, const pool_status& status) {
    const auto shown = std::find_if(status.workers.begin(), status.workers.end(),
                                    [&](const auto& each) { return each.id == open.which; });
    const auto may_get_calls = [](const worker_status& each) {
        return is_running(each.state) && !each.retiring;
    };
    switch (open.what) {
    case wait::kind::ready:
        if (status.live >= open.count) {
            wrong("somebody waits for " + std::to_string(open.count) + " workers, though as many are up");
        }
        break;
    case wait::kind::suspend:
        if (shown == status.workers.end() || shown->state == worker_state::suspended || shown->retiring) {
            wrong("somebody waits for the suspension of " + to_string(open.which) + ", which is over");
        }
        break;
    case wait::kind::suspend_all:
        if (std::none_of(status.workers.begin(), status.workers.end(), may_get_calls)) {
            wrong("somebody waits for the suspension of the pool, which is over");
        }
        break;
    case wait::kind::restart:
        if (shown == status.workers.end()) {
            wrong("somebody waits for the restart of " + to_string(open.which) + ", which is gone");
        }
        break;
    case wait::kind::probe:
        if (shown == status.workers.end()) {
            wrong("somebody waits for a probe of " + to_string(open.which) + ", which is gone");
        }
        break;
    case wait::kind::ping:
        if (shown == status.workers.end() ||
            (world_.now() > open.since + config_.heartbeat.timeout + 1ms && !late())) {
            wrong("somebody waits for a pong of " + to_string(open.which) + " for too long");
        }
        break;
    case wait::kind::end:
        if (shown == status.workers.end()) {
            wrong("somebody waits for the end of " + to_string(open.which) + ", which has ended");
        }
        break;
    }
}

void oracle::on_probed(const probe_result& found) {
    const spared_by_faults here;
    const auto* const real = find(found.worker);
    if (real == nullptr || !real->plan().has_probe || found.passed != found.complaint.empty() ||
        found.took > config_.health_check.timeout + 1ms + (late() ? 1h : 0ms)) {
        wrong("a probe of " + to_string(found.worker) + " took " + std::to_string(found.took / 1ms) +
              " ms and found: " + found.complaint);
    }
}

void oracle::on_pong(const worker_id& of, duration took) {
    const spared_by_faults here;
    const auto* const real = find(of);
    if (real == nullptr || real->pongs == 0 || took > config_.heartbeat.timeout + (late() ? 1h : 0ms)) {
        wrong("a ping of " + to_string(of) + " is said to have taken " + std::to_string(took / 1ms) + " ms");
    }
}

void oracle::on_end_told(const worker_id& of, const worker_exit& told) {
    const spared_by_faults here;
    if (told.id != of) {
        wrong("who waited for the end of " + to_string(of) + " is told of " + to_string(told.id));
    }
    check_exit(told);
}

} // namespace skep::simulation
