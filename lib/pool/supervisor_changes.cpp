// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A supervisor's planned changes: recycling, restarts, and how many workers it has.

#include "core/clock.hpp"
#include "pool/supervisor.hpp"

#include <algorithm>

namespace skep {

void supervisor::on_used_up(worker& which) {
    recycle(which, "it has answered " + std::to_string(which.completed()) + " calls");
}

void supervisor::recycle(worker& which, std::string reason) {
    if (find(which.id()) != nullptr) {
        want_recycling(which.id().slot, std::move(reason));
    }
}

void supervisor::want_recycling(std::size_t index, std::string reason) {
    if (std::find(to_recycle_.begin(), to_recycle_.end(), index) == to_recycle_.end()) {
        slots_[index].why_recycled = std::move(reason);
        to_recycle_.push_back(index);
        work_.open();
    }
}

bool supervisor::limits_memory() const noexcept {
    return config_.recycle.soft_memory != 0 || config_.recycle.hard_memory != 0;
}

/// By age and memory; on_used_up tells of the calls.
void supervisor::look_for_recycling(time_point now) {
    const bool with_memory = limits_memory() && now >= next_memory_look_;
    if (with_memory) {
        next_memory_look_ = now + config_.recycle.memory_interval;
    }
    for (std::size_t index = 0; index < slots_.size(); ++index) {
        const auto current = slots_[index].current;
        if (!current || (!with_memory && current->recycle_due() > now)) {
            continue;
        }
        auto verdict = current->judge_recycling(now, with_memory);
        if (verdict.how == recycle_plan::urgency::now) {
            current->report({failure_kind::too_much_memory, std::move(verdict.reason)});
        } else if (verdict.how == recycle_plan::urgency::drain && may_recycle(slots_[index], now)) {
            want_recycling(index, std::move(verdict.reason));
        }
    }
    if (with_memory) {
        judge_memory_of_leavers(now);
    }
}

/// Those that still have calls must not grow without limit either.
void supervisor::judge_memory_of_leavers(time_point now) {
    const auto leavers = leaving_;
    for (const auto& each : leavers) {
        auto verdict = each->judge_recycling(now, true);
        if (verdict.how == recycle_plan::urgency::now) {
            each->report({failure_kind::too_much_memory, std::move(verdict.reason)});
        }
    }
}

void supervisor::forget_recycling(std::size_t index) {
    std::erase(to_recycle_, index);
    slots_[index].restart_requested = false;
}

/// Workers that are being replaced as planned, until the last trace of the old one is gone.
std::size_t supervisor::recycling() const noexcept {
    const auto coming =
        std::count_if(slots_.begin(), slots_.end(), [](const auto& slot) { return slot.successor; });
    const auto going = std::count_if(leaving_.begin(), leaving_.end(), [](const auto& each) {
        return each->life().why_retired() && each->life().why_retired()->what == retirement::kind::recycle;
    });
    return static_cast<std::size_t>(coming + going);
}

bool supervisor::may_recycle(const slot_state& slot, time_point now) const {
    const bool serves = slot.current && slot.current->life().was_up() && !slot.successor;
    return serves && slot.due <= now &&
           (slot.restart_requested || !slot.current->life().is(obstacle::suspended));
}

/// The fresh worker is started first; the old one serves until then.
void supervisor::begin_recycling(time_point now, const std::shared_ptr<void>& owner) {
    std::erase_if(to_recycle_,
                  [&](std::size_t index) { return !slots_[index].current || slots_[index].successor; });
    auto running = to_recycle_.empty() ? 0 : recycling();
    for (auto next = to_recycle_.begin();
         next != to_recycle_.end() && running < config_.recycle.max_recycling;) {
        const auto index = *next;
        if (!may_recycle(slots_[index], now)) {
            ++next;
            continue;
        }
        next = to_recycle_.erase(next);
        slots_[index].successor = make_worker(index, owner);
        ++running;
    }
}

/// The successor is ready. One that was suspended meanwhile keeps its place, and its memory.
void supervisor::succeed(slot_state& slot) {
    if (slot.current->life().is(obstacle::suspended) && !slot.restart_requested) {
        const auto spare = std::move(slot.successor);
        spare->retire({retirement::kind::surplus, "the one it was to replace is suspended"});
        return;
    }
    const auto old = std::exchange(slot.current, std::move(slot.successor));
    forget_recycling(old->id().slot);
    log_(log_level::info, to_string(old->id()) + " is recycled: " + slot.why_recycled);
    old->retire({retirement::kind::recycle, slot.why_recycled});
}

time_point supervisor::next_recycling(time_point now) const {
    auto next = limits_memory() ? next_memory_look_ : time_point::max();
    for (const auto& slot : slots_) {
        if (slot.current && !slot.successor && slot.current->recycle_due() > now) {
            next = std::min(next, slot.current->recycle_due());
        }
    }
    for (const auto index : to_recycle_) {
        if (slots_[index].due > now) {
            next = std::min(next, slots_[index].due); // its successor failed to start
        }
    }
    return next;
}

void supervisor::restart(const worker_id& which, worker_waiters::caller_ptr caller) {
    if (find(which) == nullptr) {
        caller->complete(no_such_worker(which), {});
        return;
    }
    restarts_.add({which}, std::move(caller));
    want_restart(which.slot, "restart requested");
}

void supervisor::restart_all(worker_waiters::caller_ptr caller) {
    std::vector<worker_id> all;
    for (const auto& slot : slots_) {
        if (slot.current) { // one on its way up may be of the old version, too: it is replaced once it is there
            all.push_back(slot.current->id());
        }
    }
    for (const auto& each : all) {
        want_restart(each.slot, "rolling restart");
    }
    restarts_.add(all, std::move(caller));
}

void supervisor::want_restart(std::size_t index, std::string reason) {
    slots_[index].restart_requested = true;
    want_recycling(index, std::move(reason));
}

/// What does not come up once will not come up for the rest either; they go on serving.
void supervisor::break_off_restarts(const worker& because_of) {
    const auto& current = slots_[because_of.id().slot].current;
    restarts_.fail(current->id(), error(errc::restart_failed, because_of.describe()));
    for (std::size_t index = 0; index < slots_.size(); ++index) {
        auto& slot = slots_[index];
        if (slot.restart_requested && slot.current && !restarts_.is_awaited(slot.current->id())) {
            forget_recycling(index);
            if (slot.current->is_used_up()) {
                on_used_up(*slot.current);
            }
        }
    }
}

void supervisor::suspend(const worker_id& which, worker_waiters::caller_ptr caller) {
    auto* const found = find(which);
    if (found == nullptr || !found->life().was_up()) {
        caller->complete(no_such_worker(which), {});
        return;
    }
    suspensions_.add({which}, std::move(caller));
    found->suspend();
    if (found->life().is_suspended()) {
        suspensions_.done(which); // it was before
    }
}

void supervisor::suspend_all(worker_waiters::caller_ptr caller) {
    suspended_ = true;
    const auto all = serving();
    pool_suspensions_.add(all, std::move(caller));
    for (const auto& each : all) {
        auto* const found = find(each);
        found->suspend();
        if (found->life().is_suspended()) {
            pool_suspensions_.done(each);
        }
    }
}

void supervisor::resume(const worker_id& which, const worker_waiters::caller_ptr& caller) {
    auto* const found = find(which);
    if (found != nullptr) {
        suspensions_.fail(which, resumed());
        found->resume();
    }
    caller->complete(found == nullptr ? std::optional(no_such_worker(which)) : std::nullopt, {});
}

void supervisor::resume_all() {
    suspended_ = false;
    suspensions_.fail_all(resumed());
    pool_suspensions_.fail_all(resumed());
    for (const auto& each : serving()) {
        find(each)->resume();
    }
    work_.open();
}

void supervisor::fail_waiters(const error& why) {
    restarts_.fail_all(why);
    suspensions_.fail_all(why);
    pool_suspensions_.fail_all(why);
}

error supervisor::resumed() const {
    error_info info;
    info.pool = config_.name;
    info.detail = "resumed before it was drained";
    return error(errc::cancelled, std::move(info));
}

std::size_t supervisor::set_desired(std::size_t count, bool idle_only) {
    grow_to(count);
    while (desired_ > count && drop_one(idle_only)) {}
    return desired_;
}

void supervisor::grow_to(std::size_t count) {
    for (std::size_t index = 0; desired_ < count; ++index) {
        if (index == slots_.size()) {
            slots_.emplace_back();
        }
        auto& slot = slots_[index];
        if (!slot.wanted) {
            slot.wanted = true;
            slot.to_launch = false;
            slot.due = {};
            slot.failure_streak = 0;
            if (!slot.current) { // else its last worker is still on its way out
                vacant_.insert(index);
            }
            ++desired_;
        }
    }
    work_.open();
}

bool supervisor::drop_one(bool idle_only) {
    if (!vacant_.empty()) {
        drop(*vacant_.rbegin());
        return true;
    }
    if (!idle_only && drop_unstarted()) {
        return true;
    }
    const auto* const chosen = most_dispensable(idle_only);
    if (chosen != nullptr) {
        drop(chosen->id().slot);
    }
    return chosen != nullptr;
}

bool supervisor::drop_unstarted() {
    const auto found = std::find_if(slots_.rbegin(), slots_.rend(), [](const auto& slot) {
        return slot.wanted && slot.current && !slot.current->life().was_up();
    });
    if (found == slots_.rend()) {
        return false;
    }
    drop(static_cast<std::size_t>(slots_.rend() - found) - 1);
    return true;
}

/// The one that has been idle longest, so that the caches of the others stay warm.
worker* supervisor::most_dispensable(bool idle_only) const noexcept {
    worker* best = nullptr;
    for (const auto& slot : slots_) {
        auto* const each = slot.wanted ? slot.current.get() : nullptr;
        if (each == nullptr || !each->life().was_up() || (idle_only && !each->is_idle())) {
            continue;
        }
        const auto worth = [](const worker& of) { return std::pair(!of.is_idle(), of.last_assigned()); };
        best = best == nullptr || worth(*each) < worth(*best) ? each : best;
    }
    return best;
}

void supervisor::drop(std::size_t index) {
    auto& slot = slots_[index];
    slot.wanted = false;
    --desired_;
    vacant_.erase(index);
    const auto successor = slot.successor;
    if (successor) {
        successor->stop(stop_stage::terminate);
    }
    if (const auto current = slot.current) {
        current->retire({retirement::kind::surplus, "no longer needed"});
        if (!current->life().was_up()) {
            current->stop(stop_stage::terminate);
        }
    }
}

} // namespace skep
