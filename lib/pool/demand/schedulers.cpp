// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/slot_bitmap.hpp"
#include "pool/demand/slot_list.hpp"
#include <skep/scheduler.hpp>

#include <algorithm>
#include <utility>

namespace skep {

namespace {

/// Slots in the order of becoming free; a slot that stays on offer keeps its place.
class order_scheduler final : public scheduler {
public:
    explicit order_scheduler(bool newest_first) : newest_first_(newest_first) {}

    void offer(std::uint32_t slot, std::size_t) override {
        if (!free_.contains(slot)) {
            free_.push_back(slot);
        }
    }
    void withdraw(std::uint32_t slot) override { free_.remove(slot); }
    std::optional<std::uint32_t> pick(const claim_view&) override {
        return newest_first_ ? free_.back() : free_.front();
    }

private:
    bool newest_first_;
    slot_list free_;
};

class round_robin_scheduler final : public scheduler {
public:
    void offer(std::uint32_t slot, std::size_t) override { free_.set(slot); }
    void withdraw(std::uint32_t slot) override { free_.clear(slot); }
    std::optional<std::uint32_t> pick(const claim_view&) override {
        auto slot = free_.first_from(next_);
        if (!slot) {
            slot = free_.first_from(0);
        }
        if (slot) {
            next_ = *slot + 1;
        }
        return slot;
    }

private:
    slot_bitmap free_;
    std::uint32_t next_ = 0;
};

/// One list of slots per load, the most recently used slot last: its caches are warm. Loads change by one at
/// a time, so that the lowest and the highest load in use are found in O(1).
class load_scheduler final : public scheduler {
public:
    explicit load_scheduler(bool fullest_first) : fullest_first_(fullest_first) {}

    void offer(std::uint32_t slot, std::size_t load) override {
        if (slot >= load_of_.size()) {
            load_of_.resize(slot + 1, nowhere);
        }
        if (load_of_[slot] == load) {
            return;
        }
        while (load >= by_load_.size()) {
            by_load_.emplace_back();
        }
        by_load_[load].push_back(slot); // first: may throw
        const auto before = std::exchange(load_of_[slot], load);
        if (before != nowhere) {
            by_load_[before].remove(slot);
        }
        lowest_ = std::min(lowest_, load);
        highest_ = std::max(highest_, load);
    }

    void withdraw(std::uint32_t slot) override {
        if (slot < load_of_.size() && load_of_[slot] != nowhere) {
            by_load_[load_of_[slot]].remove(slot);
            load_of_[slot] = nowhere;
        }
    }

    std::optional<std::uint32_t> pick(const claim_view&) override {
        if (by_load_.empty()) {
            return std::nullopt;
        }
        while (fullest_first_ && highest_ > 0 && by_load_[highest_].empty()) {
            --highest_;
        }
        while (!fullest_first_ && lowest_ + 1 < by_load_.size() && by_load_[lowest_].empty()) {
            ++lowest_;
        }
        return by_load_[fullest_first_ ? highest_ : lowest_].back();
    }

private:
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

    bool fullest_first_;
    std::vector<slot_list> by_load_;
    std::vector<std::size_t> load_of_;
    std::size_t lowest_ = 0;
    std::size_t highest_ = 0;
};

} // namespace

std::unique_ptr<scheduler> make_scheduler(scheduling kind) {
    switch (kind) {
    case scheduling::round_robin: return std::make_unique<round_robin_scheduler>();
    case scheduling::lifo: return std::make_unique<order_scheduler>(true);
    case scheduling::fifo: return std::make_unique<order_scheduler>(false);
    case scheduling::pack: return std::make_unique<load_scheduler>(true);
    default: return std::make_unique<load_scheduler>(false);
    }
}

} // namespace skep
