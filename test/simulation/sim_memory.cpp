// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/sim_memory.hpp"

#include "simulation/faults.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace skep::simulation {

/// The pool's end, whose memory ends with it.
class sim_memory::line final : public memory_line {
public:
    explicit line(std::shared_ptr<sim_memory> target) noexcept : target_(std::move(target)) {}
    ~line() override { target_->regions_.clear(); }

    bool make(std::uint64_t region, std::size_t bytes) noexcept override {
        const spared_by_faults here;
        if (target_->fails()) {
            return false;
        }
        if (!target_->regions_.try_emplace(region, bytes).second) {
            target_->world_.violated(target_->owner_ + " got region " + std::to_string(region) + " twice");
        }
        return true;
    }

    std::span<std::byte> open(const region_place& place, std::size_t bytes) noexcept override {
        const spared_by_faults here;
        const auto found = target_->regions_.find(place.region);
        if (found == target_->regions_.end() || place.begin + bytes > found->second.size()) {
            target_->world_.violated(target_->owner_ + " is to get a place that is in none of its regions");
            return {};
        }
        if (target_->fails()) {
            return {};
        }
        target_->attempts_.emplace_back(key(place));
        return std::span(found->second).subspan(place.begin, bytes);
    }

    std::uint64_t opened_bytes() const noexcept override { return 0; }
    blob make_for_results(std::uint64_t region, std::size_t bytes) noexcept override {
        return target_->results.make(region, bytes);
    }
    bool refuse_for_results(std::size_t) noexcept override { return target_->results.refuse(); }
    bool provide(const region_place&, std::span<const std::byte>) noexcept override { return true; }

    std::optional<region_place> pass(std::uint64_t number, const blob& bytes,
                                     std::size_t most_bytes) noexcept override {
        return target_->sealed.pass(number, bytes, most_bytes);
    }
    blob take(const region_place& place, std::size_t bytes, std::size_t least, std::size_t most_bytes,
              std::size_t& packets) override {
        return target_->sealed.take(place, bytes, least, most_bytes, packets);
    }

private:
    std::shared_ptr<sim_memory> target_;
};

std::unique_ptr<memory_line> sim_memory::connect() {
    return std::make_unique<line>(shared_from_this());
}

bool sim_memory::fails() noexcept {
    const bool is_failure = world_.chance.chance(failures_);
    if (is_failure) {
        attempts_.emplace_back();
    }
    return is_failure;
}

bool sim_memory::take_failure() {
    const auto failure = std::find(attempts_.begin(), attempts_.end(), std::nullopt);
    const bool has_failed = failure != attempts_.end();
    if (has_failed) {
        attempts_.erase(attempts_.begin(), failure + 1);
    }
    return has_failed;
}

void sim_memory::forget_attempts_until(const place_key& place) {
    const auto opened = std::find(attempts_.begin(), attempts_.end(), place);
    if (opened != attempts_.end()) {
        attempts_.erase(attempts_.begin(), opened + 1);
    }
}

void sim_memory::on_lent(const region_place& place, std::size_t bytes, char letter) {
    for (const auto& [other, held] : lent_) {
        const bool overlaps = other.first == place.region && other.second < place.begin + bytes &&
                              place.begin < other.second + held.bytes;
        if (overlaps) {
            world_.violated(owner_ + " was lent bytes at " + std::to_string(place.begin) + " of region " +
                            std::to_string(place.region) + " that it has not released");
        }
    }
    forget_attempts_until(key(place));
    lent_.insert_or_assign(key(place), content{bytes, letter});
    ++times_lent_;
    check(place);
}

void sim_memory::check(const region_place& place) const {
    const auto region = regions_.find(place.region);
    const auto held = lent_.find(key(place));
    if (region == regions_.end() || held == lent_.end()) {
        return; // the pool has given the worker up
    }
    const auto [bytes, letter] = held->second;
    const auto all = std::span(region->second);
    const bool is_whole = place.begin + bytes <= all.size() &&
                          std::ranges::all_of(all.subspan(place.begin, bytes), [letter = letter](auto each) {
                              return each == static_cast<std::byte>(letter);
                          });
    if (!is_whole) {
        world_.violated("an attachment of " + owner_ + " has changed before its release, or never was right");
    }
}

} // namespace skep::simulation
