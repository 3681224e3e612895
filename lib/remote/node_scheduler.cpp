// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_scheduler.hpp"

#include <algorithm>
#include <utility>

namespace skep {

namespace {

constexpr std::uint32_t penalty_per_place = 10; ///< of a full or suspect node: it is the last to be asked

} // namespace

told_loads::entry& told_loads::at(std::uint32_t slot) {
    if (slot >= entries_.size()) {
        entries_.resize(slot + 1);
    }
    return entries_[slot];
}

link_load told_loads::tell(std::uint32_t slot, const link_load& load) {
    auto& told = at(slot);
    const auto before = std::exchange(told.load, load);
    told.own_then = told.own_now;
    notify(slot);
    return before;
}

void told_loads::set_suspect(std::uint32_t slot, bool is_suspect) {
    if (std::exchange(at(slot).is_suspect, is_suspect) != is_suspect) {
        notify(slot);
    }
}

void told_loads::notify(std::uint32_t slot) {
    for (auto* const each : schedulers_) {
        each->follow(slot);
    }
}

/// The calls of others at the node are the rest of what it has told.
node_load told_loads::estimate(std::uint32_t slot, std::size_t own_calls) {
    auto& told = at(slot);
    told.own_now = own_calls;
    const auto others = told.load.calls - std::min<std::size_t>(told.load.calls, told.own_then);
    node_load load;
    load.places = std::max<std::uint32_t>(told.load.places, 1); // without workers, it may refuse by itself
    const auto penalty = told.load.is_full || told.is_suspect ? penalty_per_place * load.places : 0;
    load.told = static_cast<std::uint32_t>(others + own_calls) + penalty;
    return load;
}

node_scheduler::node_scheduler(std::shared_ptr<told_loads> loads, node_choice::random_source random)
    : loads_(std::move(loads)), random_(std::move(random)) {
    loads_->schedulers_.push_back(this);
}

node_scheduler::~node_scheduler() {
    std::erase(loads_->schedulers_, this);
}

void node_scheduler::offer(std::uint32_t slot, std::size_t load) {
    if (slot >= on_offer_.size()) {
        on_offer_.resize(slot + 1);
    }
    on_offer_[slot] = true;
    choice_.set(slot, loads_->estimate(slot, load));
}

void node_scheduler::withdraw(std::uint32_t slot) {
    if (is_on_offer(slot)) {
        on_offer_[slot] = false;
        choice_.set(slot, {});
    }
}

std::optional<std::uint32_t> node_scheduler::pick(const claim_view&) {
    return choice_.pick(random_);
}

void node_scheduler::follow(std::uint32_t slot) {
    if (is_on_offer(slot)) {
        choice_.set(slot, loads_->estimate(slot, loads_->at(slot).own_now));
    }
}

} // namespace skep
