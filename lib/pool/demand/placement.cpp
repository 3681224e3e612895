// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/placement.hpp"

#include "core/text.hpp"
#include "core/with_detail.hpp"
#include <skep/error.hpp>

#include <algorithm>
#include <new>

namespace skep {

namespace {

[[noreturn]] void reject_scheduler(const std::string& problem) {
    throw error(errc::invalid_config, with_detail("custom_scheduler " + problem));
}

/// Calls a scheduler, possibly the user's. Turns exceptions into error(invalid_config), except
/// std::bad_alloc.
template <class Function>
auto ask(Function&& function) {
    try {
        return function();
    } catch (const std::bad_alloc&) {
        throw;
    } catch (...) {
        reject_scheduler("threw: " + text_of(std::current_exception()));
    }
}

std::unique_ptr<scheduler> scheduler_of(const pool_config& config) {
    auto made = config.custom_scheduler ? ask(config.custom_scheduler) : make_scheduler(config.schedule);
    if (!made) {
        reject_scheduler("returned no scheduler");
    }
    return made;
}

} // namespace

placement::placement(const pool_config& config, const wait_queue& queue)
    : config_(config),
      waiting_(queue),
      free_(scheduler_of(config)),
      pipelined_(make_scheduler(scheduling::least_loaded)) {}

void placement::enlist(worker& new_worker) {
    const auto slot = new_worker.id().slot;
    if (slot >= workers_.size()) {
        passed_over_.reserve(slot + 1);
        workers_.resize(slot + 1);
    }
    workers_[slot] = &new_worker;
    refresh(new_worker);
}

void placement::remove(worker& leaver) {
    const auto slot = leaver.id().slot;
    if (in_slot(slot) == &leaver) { // otherwise the slot has another worker by now
        workers_[slot] = nullptr;
        ask([&] { free_->withdraw(slot); });
        pipelined_->withdraw(slot);
    }
}

void placement::refresh(worker& changed_worker) {
    const auto slot = changed_worker.id().slot;
    if (in_slot(slot) != &changed_worker) {
        return;
    }
    const auto& calls = changed_worker.calls();
    const auto inform = [&](scheduler& chooser, bool takes) {
        ask([&] {
            if (takes) {
                chooser.offer(slot, calls.load());
            } else {
                chooser.withdraw(slot);
            }
        });
    };
    inform(*free_, calls.accepts_call());
    if (config_.pipeline_depth.value_or(1) > 0) {
        inform(*pipelined_, calls.accepts_pipelined_call());
    }
}

worker* placement::pick(const claim& claimant, bool may_be_pipelined) {
    if (claimant.slot) {
        auto* const only = in_slot(*claimant.slot);
        return only != nullptr && has_room(*only, claimant) ? only : nullptr;
    }
    if (claimant.wants_whole_worker) {
        return pick_whole(claimant);
    }
    auto* const free = pick_by(*free_, claimant, &worker_calls::accepts_call);
    return free != nullptr || !claimant.is_pipelinable || !may_be_pipelined
               ? free
               : pick_by(*pipelined_, claimant, &worker_calls::accepts_pipelined_call);
}

/// Picks the worker that will be free soonest, as far as known: the worker with the lowest load.
worker* placement::pick_whole(const claim& claimant) const noexcept {
    worker* best = nullptr;
    for (auto* const each : workers_) {
        const bool would_do = each != nullptr && has_room(*each, claimant) &&
                              !waiting_.has_older_for(each->id().slot, claimant);
        best = would_do && (best == nullptr || each->calls().load() < best->calls().load()) ? each : best;
    }
    return best;
}

/// A worker that has just left service may still be on offer. A worker that an older claim waits for alone
/// stays on offer to other claims.
worker* placement::pick_by(scheduler& chooser, const claim& claimant,
                           bool (worker_calls::*accepts)() const noexcept) {
    const auto view = claimant.view();
    passed_over_.clear();
    worker* best = nullptr;
    std::size_t picked = 0; // no slot can be picked twice
    while (const auto slot = ask([&] { return chooser.pick(view); })) {
        if (*slot >= workers_.size() || ++picked > workers_.size()) {
            reject_scheduler("picked slot " + std::to_string(*slot) + ", which is not on offer");
        }
        auto* const offered = in_slot(*slot);
        const bool would_do = offered != nullptr && (offered->calls().*accepts)();
        if (would_do && !waiting_.has_older_for(*slot, claimant)) {
            best = offered;
            break;
        }
        if (would_do) {
            passed_over_.push_back(offered);
        }
        ask([&] { chooser.withdraw(*slot); });
    }
    for (auto* const each : passed_over_) {
        refresh(*each);
    }
    return best;
}

worker* placement::find(const worker_id& id) const noexcept {
    auto* const found = in_slot(id.slot);
    const bool is_it = found != nullptr && found->id() == id && !found->life().departure();
    return is_it ? found : nullptr;
}

bool placement::is_any_up() const noexcept {
    return std::any_of(workers_.begin(), workers_.end(), [](const worker* each) { return each != nullptr; });
}

} // namespace skep
