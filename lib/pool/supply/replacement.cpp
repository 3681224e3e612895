// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/supply/replacement.hpp"

#include "core/duration_text.hpp"

#include <algorithm>
#include <utility>

namespace skep {

replacement::replacement(const pool_context& context, const pool_config& config, const pool_log& log,
                         roster& workers, condition_variable& change_signal, starter start_successor)
    : context_(context),
      config_(config),
      log_(log),
      roster_(workers),
      changed_(change_signal),
      start_successor_(std::move(start_successor)) {}

void replacement::recycle(const worker& used_worker, std::string reason) {
    if (roster_.find(used_worker.id()) != nullptr) {
        want(used_worker.id().slot, std::move(reason));
    }
}

void replacement::want(std::size_t index, std::string reason) {
    if (std::find(wanted_.begin(), wanted_.end(), index) == wanted_.end()) {
        roster_[index].why_recycled = std::move(reason);
        roster_[index].is_wait_logged = false;
        wanted_.push_back(index);
        roster_.work().open();
    }
}

void replacement::plan(time_point now) {
    plan_due(now);
    begin_due(now);
}

/// Plans by age and memory. A worker itself announces when its calls are used up.
void replacement::plan_due(time_point now) {
    const bool with_memory = limits_memory() && now >= next_memory_look_;
    if (with_memory) {
        next_memory_look_ = now + config_.recycle.memory_interval;
    }
    auto& slots = roster_.slots();
    for (std::size_t index = 0; index < slots.size(); ++index) {
        const auto current = slots[index].current;
        if (!current || (!with_memory && current->recycling().due() > now)) {
            continue;
        }
        auto verdict = judge(slots[index], now, with_memory);
        if (verdict.how == recycle_plan::urgency::now) {
            current->report({departure_cause::memory_limit, std::move(verdict.reason)});
        } else if (verdict.how == recycle_plan::urgency::drain && may_begin(slots[index], now)) {
            want(index, std::move(verdict.reason));
        }
    }
    if (with_memory) {
        judge_memory_of_leavers(now);
    }
}

/// A replacement that helps only for a moment waits for its time. The worker may be due for another reason
/// all the same.
recycle_plan::verdict replacement::judge(slot& worker_slot, time_point now, bool with_memory) {
    auto& current = *worker_slot.current;
    if (with_memory && worker_slot.serves() && !current.recycling().is_measured()) {
        warn_once(warned_.unmeasured, current, [&] {
            return "the memory of " + to_string(current.id()) +
                   " is not measured, and recycle.soft_memory and recycle.hard_memory do not apply to it: it "
                   "is connected over stdio, or the process that its hello names does not belong to the "
                   "process group or session that was started";
        });
    }
    auto verdict = current.recycling().judge(now, with_memory);
    if (verdict.is_in_vain && verdict.how == recycle_plan::urgency::drain) {
        warn_once(warned_.in_vain, current, [&] {
            return "recycle.soft_memory is less than a fresh worker needs: " + to_string(current.id()) +
                   " is to be replaced, for " + verdict.reason +
                   "; workers are replaced for that less and less often, up to restart.max_backoff";
        });
    }
    const bool is_put_off = verdict.is_in_vain && verdict.how == recycle_plan::urgency::drain &&
                            now < worker_slot.plan.due_in_vain();
    return is_put_off ? current.recycling().judge(now, false) : std::move(verdict);
}

template <class MakeText>
void replacement::warn_once(bool& has_warned, const worker& about, MakeText&& make_text) {
    if (!std::exchange(has_warned, true)) {
        log_(log_level::warning, make_text, subject_of(about));
    }
}

/// Leaving workers with calls must not grow without limit either.
void replacement::judge_memory_of_leavers(time_point now) {
    for (const auto& each : roster_.leaving()) {
        auto verdict = each->recycling().judge(now, true);
        if (verdict.how == recycle_plan::urgency::now) {
            each->report({departure_cause::memory_limit, std::move(verdict.reason)});
        }
    }
}

/// Starts the new worker first; the old worker serves until then.
void replacement::begin_due(time_point now) {
    std::erase_if(wanted_,
                  [&](std::size_t index) { return !roster_[index].current || roster_[index].successor; });
    auto running = wanted_.empty() ? 0 : under_way();
    for (auto next = wanted_.begin(); next != wanted_.end() && running < config_.recycle.max_recycling;) {
        const auto index = *next;
        if (!may_begin(roster_[index], now)) {
            log_wait(roster_[index]);
            ++next;
            continue;
        }
        next = wanted_.erase(next);
        roster_[index].successor = start_successor_(index);
        ++running;
    }
}

bool replacement::may_begin(const slot& worker_slot, time_point now) const {
    const bool is_free_to = worker_slot.wanted && worker_slot.serves() &&
                            !worker_slot.current->life().departure() && !worker_slot.successor &&
                            worker_slot.plan.due() <= now;
    return is_free_to && !worker_slot.current->is_held() &&
           (!worker_slot.restarts.empty() ||
            !worker_slot.current->life().readiness().has(obstacle::suspended));
}

void replacement::log_wait(slot& worker_slot) const {
    if (worker_slot.current->is_held() && !std::exchange(worker_slot.is_wait_logged, true)) {
        const auto describe = [&] {
            return to_string(worker_slot.current->id()) + " waits to be replaced (" +
                   worker_slot.why_recycled + "): " +
                   (worker_slot.current->calls().is_leased() ? "it is leased"
                                                             : "sessions are strictly bound to it");
        };
        log_(log_level::info, describe, subject_of(*worker_slot.current));
    }
}

std::string replacement::why_it_waits(std::size_t index) const {
    const auto& in = roster_[index];
    const bool is_wanted = std::find(wanted_.begin(), wanted_.end(), index) != wanted_.end();
    return is_wanted && in.current && in.current->is_held() ? in.why_recycled : std::string();
}

/// Counts a replacement until the old worker has ended.
std::size_t replacement::under_way() const noexcept {
    const auto& slots = roster_.slots();
    const auto& leaving = roster_.leaving();
    const auto coming =
        std::count_if(slots.begin(), slots.end(), [](const slot& each) { return each.successor != nullptr; });
    const auto going = std::count_if(leaving.begin(), leaving.end(), [](const auto& each) {
        return each->life().leaves_for(departure_cause::recycling);
    });
    return static_cast<std::size_t>(coming + going);
}

bool replacement::limits_memory() const noexcept {
    return config_.recycle.soft_memory != 0 || config_.recycle.hard_memory != 0;
}

/// A worker that was suspended meanwhile keeps its place and its memory. So does a worker that was leased, or
/// bound to a session.
void replacement::succeed(slot& worker_slot) {
    if (worker_slot.current->life().readiness().has(obstacle::suspended) && worker_slot.restarts.empty()) {
        dismiss_successor(worker_slot, "the one it was to replace is suspended");
        return;
    }
    if (worker_slot.current->is_held()) {
        dismiss_successor(worker_slot, "the one it was to replace is leased, or serves a session");
        want(worker_slot.current->id().slot, worker_slot.why_recycled);
        return;
    }
    const auto old = std::exchange(worker_slot.current, std::move(worker_slot.successor));
    forget(old->id().slot);
    worker_slot.plan.replaced(old->recycling().is_in_vain(), context_.random(), context_.now());
    compare_age_with_start(*worker_slot.current);
    const auto describe = [&] { return to_string(old->id()) + " is recycled: " + worker_slot.why_recycled; };
    log_(log_level::info, describe, subject_of(*old));
    context_.publish<events::worker_recycled>([&] {
        return events::worker_recycled{old->id(), worker_slot.why_recycled};
    });
    old->retire(departure_cause::recycling, std::move(worker_slot.why_recycled)); // no step here may fail
}

/// Warns if recycle.age is no longer than a start: some worker would always be starting.
void replacement::compare_age_with_start(const worker& new_worker) {
    const auto took = context_.now() - new_worker.asked_for();
    if (config_.recycle.age > duration::zero() && took >= config_.recycle.age) {
        warn_once(warned_.short_age, new_worker, [&] {
            return "recycle.age, " + in_milliseconds(config_.recycle.age) + ", is no more than the " +
                   in_milliseconds(took) + " that a start takes: one worker after the other is started";
        });
    }
}

void replacement::dismiss_successor(slot& worker_slot, std::string reason) {
    const auto spare = std::move(worker_slot.successor);
    spare->retire(departure_cause::surplus, std::move(reason));
}

/// The old worker continues to serve.
void replacement::on_successor_failed(worker& failed_worker, double random, time_point now) {
    const auto index = failed_worker.id().slot;
    auto& slot = roster_[index];
    const bool was_stopped = failed_worker.life().is_stopping();
    slot.successor.reset();
    slot.plan.successor_failed(!was_stopped, random, now);
    if (!slot.restarts.empty()) { // the caller decides whether to try again
        break_off_restarts(index, failed_worker);
    } else if (!was_stopped) {
        want(index, slot.why_recycled);
    }
}

void replacement::forget(std::size_t index) {
    std::erase(wanted_, index);
    roster_[index].restarts.clear();
}

time_point replacement::next_check(time_point now) const {
    auto next = limits_memory() ? next_memory_look_ : time_point::max();
    for (const auto& slot : roster_.slots()) {
        if (slot.current && !slot.successor && slot.current->recycling().due() > now) {
            next = std::min(next, slot.current->recycling().due());
        }
    }
    for (const auto index : wanted_) {
        const auto due = roster_[index].plan.due();
        if (due > now) {
            next = std::min(next, due); // its successor failed to start
        }
    }
    return next;
}

asio::awaitable<void> replacement::restart(worker_id id) {
    if (roster_.find(id) == nullptr) {
        throw roster_.no_such_worker(id);
    }
    std::vector<worker_id> one{std::move(id)};
    co_await replace_all(std::move(one), "restart requested");
}

asio::awaitable<void> replacement::restart_all() {
    std::vector<worker_id> all;
    for (const auto& slot : roster_.slots()) {
        if (slot.current) { // starting workers, too: perhaps of the old version, replaced once up
            all.push_back(slot.current->id());
        }
    }
    co_await replace_all(std::move(all), "rolling restart");
}

asio::awaitable<void> replacement::replace_all(std::vector<worker_id> workers, std::string reason) {
    const auto mine = ++last_restart_;
    std::vector<std::shared_ptr<worker>> old;
    for (const auto& each : workers) {
        old.push_back(roster_.find(each)->shared_from_this());
        roster_[each.slot].restarts.insert(mine);
        want(each.slot, reason);
    }
    const auto is_broken_off = [&](const auto& each) {
        return roster_.find(each->id()) != nullptr && !roster_.slot_of(*each).restarts.contains(mine);
    };
    while (!old.empty()) {
        std::erase_if(old, [this](const auto& each) { return roster_.has_ended(*each); });
        if (std::any_of(old.begin(), old.end(), is_broken_off)) {
            throw *restart_problem_;
        }
        if (!old.empty()) {
            co_await changed_.wait();
        }
    }
}

/// If one successor does not come up, the others will not either. The old workers continue to serve.
void replacement::break_off_restarts(std::size_t index, const worker& failed_worker) {
    restart_problem_ = error(errc::restart_failed, failed_worker.describe());
    const auto broken = roster_[index].restarts;
    auto& slots = roster_.slots();
    for (std::size_t other = 0; other < slots.size(); ++other) {
        auto& slot = slots[other];
        const bool was_wanted = !slot.restarts.empty();
        for (const auto each : broken) {
            slot.restarts.erase(each);
        }
        if (was_wanted && slot.restarts.empty()) {
            forget(other);
            if (slot.current && slot.current->recycling().is_used_up()) {
                recycle(*slot.current,
                        "it has answered " + std::to_string(slot.current->calls().completed()) + " calls");
            }
        }
    }
}

} // namespace skep
