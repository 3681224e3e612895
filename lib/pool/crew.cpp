// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/crew.hpp"

#include "core/clock.hpp"
#include "policy/backoff.hpp"
#include "policy/start_plan.hpp"

#include <algorithm>
#include <thread>

namespace skep {

namespace {

std::size_t slot_count(const pool_config& config) {
    return config.workers != 0 ? config.workers
                               : std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

} // namespace

crew::crew(const strand& executor, const pool_config& config, runtime& starter, worker_events& events,
           const pool_log& log)
    : executor_(executor),
      config_(config),
      runtime_(starter),
      events_(events),
      log_(log),
      slots_(slot_count(config)),
      lives_(executor,
             [this](std::exception_ptr) { log_(log_level::error, "a worker's supervisor failed"); }),
      changed_(executor),
      work_(executor),
      random_(std::random_device{}()) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        vacant_.insert(vacant_.end(), i);
    }
}

void crew::start_slot(std::size_t index, const std::shared_ptr<void>& owner) {
    auto& slot = slots_[index];
    vacant_.erase(index);
    worker_id id{config_.name, static_cast<std::uint32_t>(index), ++slot.generation};
    slot.current = std::make_shared<worker>(executor_, config_, std::move(id), runtime_, events_, log_);
    ++starting_;
    // The pool outlives its workers: their tasks refer to what it owns.
    const auto both =
        std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<worker>>>(owner, slot.current);
    lives_.spawn(both, slot.current->run());
}

void crew::on_ready(worker& which) {
    --starting_;
    ++ready_;
    ++past_.workers_started;
    slots_[which.id().slot].due = {};
    changed_.open();
    work_.open();
}

/// The slot of a worker that has served is free for another at once; it may take a while to leave.
void crew::on_out_of_service(worker& which) {
    if (which.was_ready()) {
        --ready_;
        leaving_.push_back(slots_[which.id().slot].current);
        vacate(which);
    }
}

void crew::vacate(const worker& leaver) {
    auto& slot = slots_[leaver.id().slot];
    const auto now = clock::now();
    const worker_death death{leaver.is_retired(), leaver.was_ready(), leaver.uptime(now), leaver.completed(),
                             leaver.exit().status};
    slot.previous_streak = slot.failure_streak;
    slot.failure_streak = next_failure_streak(slot.failure_streak, death, config_.restart);
    const auto random = std::uniform_real_distribution<double>()(random_);
    slot.due = now + backoff_delay(slot.failure_streak, random, config_.restart);
    slot.current.reset();
    vacant_.insert(leaver.id().slot);
    work_.open();
}

/// How it ended and its last answers are known only now: they may speak for an earlier start of the next.
void crew::reconsider(const worker& gone) {
    auto& slot = slots_[gone.id().slot];
    if (slot.current || slot.generation != gone.id().generation) {
        return; // the next has been started already
    }
    const auto now = clock::now();
    const worker_death death{gone.is_retired(), true, gone.uptime(now), gone.completed(), gone.exit().status};
    const auto streak = next_failure_streak(slot.previous_streak, death, config_.restart);
    if (streak < slot.failure_streak) {
        slot.failure_streak = streak;
        const auto random = std::uniform_real_distribution<double>()(random_);
        slot.due = std::min(slot.due, now + backoff_delay(streak, random, config_.restart));
    }
}

void crew::on_ended(worker& which) {
    if (const auto& failure = which.failure()) {
        last_failure_ = which.describe();
        last_failure_code_ = failure->code;
        auto& slot = slots_[which.id().slot];
        if (which.id().generation >= slot.failed_generation) {
            slot.failed_generation = which.id().generation;
            slot.last_failure = failure->detail +
                                (last_failure_.status.known() ? ", " + to_string(last_failure_.status) : "");
        }
        ++(which.was_ready() ? past_.workers_lost : past_.start_failures);
    }
    if (!which.was_ready()) { // only now is the cause of its failure known
        --starting_;
        vacate(which);
    } else {
        reconsider(which);
    }
    past_.missed_pings += which.missed_pings();
    past_.output_lines_dropped += which.output_lines_dropped();
    std::erase_if(leaving_, [&which](const auto& each) { return each.get() == &which; });
    changed_.open();
    work_.open();
}

asio::awaitable<void> crew::reconcile(std::shared_ptr<void> owner) {
    auto next_tick = clock::now() + config_.restart.safety_tick;
    while (!closed_) {
        work_.close(); // before looking: a start may fail at once
        const bool tick = clock::now() >= next_tick;
        start_due(tick ? config_.restart.starts_per_tick : 0, owner);
        next_tick = tick ? clock::now() + config_.restart.safety_tick : next_tick;
        co_await work_.wait_until(std::min(next_tick, next_due()));
    }
}

void crew::start_due(std::size_t at_least, const std::shared_ptr<void>& owner) {
    const auto now = clock::now();
    std::vector<std::size_t> due;
    std::copy_if(vacant_.begin(), vacant_.end(), std::back_inserter(due),
                 [&](std::size_t index) { return slots_[index].due <= now; });
    due.resize(starts_allowed(due.size(), starting_, config_.start.batch_size, at_least));
    for (const auto index : due) {
        start_slot(index, owner);
    }
}

/// The next moment at which a slot's backoff ends. Those that are due already wait for room, that is for
/// changed_.
time_point crew::next_due() const noexcept {
    const auto now = clock::now();
    auto next = time_point::max();
    for (const auto index : vacant_) {
        if (slots_[index].due > now) {
            next = std::min(next, slots_[index].due);
        }
    }
    return next;
}

void crew::close() {
    closed_ = true;
    work_.open();
}

void crew::reopen() {
    closed_ = false;
    last_failure_ = {};
    last_failure_code_ = errc::worker_lost;
    for (auto& slot : slots_) {
        slot.failure_streak = 0;
        slot.due = {};
    }
}

void crew::stop_if_retired(worker& which) {
    if (which.is_retired() && which.is_drained() && !which.is_stopping()) {
        which.stop(stop_rung::terminate);
    }
}

void crew::stop_all(stop_rung first) {
    for (const auto& each : everyone()) {
        each->stop(first);
    }
}

void crew::end_now() noexcept {
    for (const auto& each : everyone()) {
        each->end_now();
    }
}

std::vector<std::shared_ptr<worker>> crew::everyone() const {
    auto all = leaving_;
    for (const auto& slot : slots_) {
        if (slot.current) {
            all.push_back(slot.current);
        }
    }
    return all;
}

std::vector<worker_status> crew::status(time_point now) const {
    std::vector<worker_status> result;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        const auto& slot = slots_[i];
        worker_status entry;
        if (slot.current) {
            entry = slot.current->status(now);
        } else {
            entry.id = {config_.name, static_cast<std::uint32_t>(i), slot.generation + 1};
            entry.state = slot.failure_streak > 0 ? worker_state::pending : worker_state::created;
        }
        entry.last_failure = slot.last_failure;
        result.push_back(std::move(entry));
    }
    for (const auto& each : leaving_) {
        result.push_back(each->status(now));
    }
    return result;
}

void crew::count(pool_counters& counters) const {
    counters.workers_started = past_.workers_started;
    counters.workers_lost = past_.workers_lost;
    counters.start_failures = past_.start_failures;
    counters.missed_pings = past_.missed_pings;
    counters.output_lines_dropped = past_.output_lines_dropped;
    const auto add = [&counters](const worker& living) {
        counters.missed_pings += living.missed_pings();
        counters.output_lines_dropped += living.output_lines_dropped();
    };
    for (const auto& slot : slots_) {
        if (slot.current) {
            add(*slot.current);
        }
    }
    for (const auto& each : leaving_) {
        add(*each);
    }
}

} // namespace skep
