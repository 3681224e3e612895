// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// When a worker may be started.

#include "simulation/oracle.hpp"

#include <algorithm>
#include <csignal>

namespace skep::simulation {

using namespace std::chrono_literals;

/// One that comes up no sooner than its predecessor is held back, twice as long each time.
void oracle::check_backoff(const sim_worker& fresh) {
    const bool is_resized = resized_ || restarts_ || limits_.min < limits_.max; // which forgives
    if (out_of_memory() || is_resized) {
        return;
    }
    const auto& all = by_slot_[fresh.id().slot];
    auto wait = config_.restart.initial_backoff;
    time_point last{};
    int streak = 0;
    for (auto each = all.rbegin(); each != all.rend(); ++each) {
        const auto& gone = **each;
        const bool failed = gone.start_failed || (gone.exited && gone.exited_by_itself);
        const bool succeeded_another = std::any_of(all.begin(), all.end(), [&](const auto* other) {
            return other->ready_seen && *other->ready_seen <= gone.started &&
                   !(other->exited && *other->exited < gone.started);
        });
        if (gone.ready_seen || !failed || succeeded_another || gone.started < start_asked_) {
            break;
        }
        last = std::max(last, gone.exited.value_or(gone.started));
        const bool from_outside = gone.status.signal() == SIGKILL || gone.status.signal() == SIGTERM;
        streak += from_outside ? 0 : 1;
    }
    for (int i = 1; i < streak; ++i) { // being killed from outside counts once
        wait = std::min(config_.restart.max_backoff, wait * 2);
    }
    const auto least = duration(
        static_cast<duration::rep>(static_cast<double>(std::min(wait, config_.restart.max_backoff).count()) *
                                   (1 - config_.restart.jitter)));
    if (last > time_point() && fresh.started + 1us < last + least) {
        wrong(fresh.name() + " was started too soon after " + std::to_string(streak) + " failures");
    }
}

/// Nor one whose predecessor has crashed, as long as another serves.
void oracle::check_taint(const sim_worker& fresh) {
    const auto& all = by_slot_[fresh.id().slot];
    if (!config_.crash_barrier.enabled || all.empty() || !running_ || may_stop_workers()) {
        return;
    }
    const auto& gone = *all.back();
    const bool was_to_go = gone.has_lied || was_to_be_replaced(gone);
    const bool has_crashed =
        gone.ready_seen && gone.exited_by_itself && !was_to_go && gone.status.signal() == SIGSEGV;
    const bool another_serves = std::any_of(workers_.begin(), workers_.end(), [&](const auto& each) {
        const bool may_be_leaving =
            each->is_lost() || each->asked || each->plan().has_probe || may_have_been_overdue(*each);
        const bool has_come_up = each->ready_seen && *each->ready_seen < fresh.started;
        return each->id().slot != fresh.id().slot && has_come_up && !may_be_leaving;
    });
    if (has_crashed && another_serves && fresh.started < *gone.exited + config_.crash_barrier.taint) {
        wrong(fresh.name() + " was started though the one before it has crashed a moment ago");
    }
}

/// Nor one for the place of one that is suspended, unless somebody wants that.
void oracle::check_suspended(const sim_worker& fresh) {
    const auto& all = by_slot_[fresh.id().slot];
    const bool is_suspended = known_suspended_ && known_suspended_since_ < world_.now();
    if (!is_suspended || all.empty() || restarts_ || resized_ || late() || out_of_memory()) {
        return;
    }
    const auto& last = *all.back();
    if (last.ready_seen && !last.is_lost() && !last.asked && !last.plan().has_probe) {
        wrong(fresh.name() + " was started for the place of one that is suspended");
    }
}

/// Nor, again and again, for the place of one that is as large as any fresh one.
void oracle::check_in_vain(const sim_worker& fresh) {
    const auto& recycling = config_.recycle;
    const auto& all = by_slot_[fresh.id().slot];
    const bool is_for_memory_only = recycling.soft_memory > 0 && recycling.age == 0s &&
                                    recycling.calls == 0 && config_.health_check.error_streak == 0;
    const bool are_all_large = weather_.fresh_bytes >= recycling.soft_memory;
    const bool is_asked_for = resized_ || restarts_ || limits_.min < limits_.max || shutting_down_;
    const bool may_be_held =
        !leases_.empty() || !sessions_.empty() || pool_suspension_asked_ || !suspended_.empty();
    if (!is_for_memory_only || !are_all_large || is_asked_for || may_be_held || late() || out_of_memory()) {
        return;
    }
    const bool are_all_well = std::all_of(all.begin(), all.end(), [this](const auto* each) {
        return each->ready_seen && !each->did_wrong && !each->plan().has_probe &&
               !may_have_been_overdue(*each);
    });
    if (all.size() < 2 || !are_all_well || all.back()->is_lost()) {
        return;
    }
    const auto forgives_earlier = [this](const auto* each) {
        const bool was_stable =
            each->exited && *each->exited - *each->ready_seen >= config_.restart.stable_after;
        return was_stable || each->started <= last_failed_start_;
    };
    const auto last = std::find_if(all.rbegin(), all.rend(), forgives_earlier);
    const auto count = static_cast<std::size_t>(last - all.rbegin());
    auto wait = config_.restart.initial_backoff;
    for (std::size_t i = 2; i < count; ++i) {
        wait = std::min(config_.restart.max_backoff, wait * 2);
    }
    const auto least = std::chrono::duration<double>(wait) * (1 - config_.restart.jitter);
    if (count >= 2 &&
        fresh.started + 1us < *all.back()->ready_seen + std::chrono::duration_cast<duration>(least)) {
        wrong(fresh.name() + " was started too soon for the place of one that is as large as it will be");
    }
}

} // namespace skep::simulation
