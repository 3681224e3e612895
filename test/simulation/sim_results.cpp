// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/sim_results.hpp"

#include "simulation/faults.hpp"

#include <algorithm>
#include <span>

namespace skep::simulation {

blob sim_results::make(std::uint64_t number, std::size_t bytes) {
    const spared_by_faults here;
    if (!std::exchange(is_requested_, false)) {
        world_.violated(owner_ + " got a region for results without a request");
    }
    if (world_.chance.chance(failures_)) {
        is_requested_ = true; // until the refusal
        return {};
    }
    auto memory = std::make_shared<std::vector<std::byte>>(bytes, std::byte('?'));
    const std::span<const std::byte> all(*memory);
    size_ += bytes;
    if (!regions_.try_emplace(number, region{memory, {}}).second) {
        world_.violated(owner_ + " got region " + std::to_string(number) + " for results twice");
    }
    return {std::move(memory), all};
}

/// Perhaps the line takes nothing more.
bool sim_results::refuse() {
    is_requested_ = world_.chance.chance(0.1);
    return !is_requested_;
}

std::size_t sim_results::next_request() {
    const auto left = options_.bytes - size_;
    if (is_requested_ || regions_.size() == options_.regions || left == 0) {
        return 0;
    }
    is_requested_ = true;
    return std::min(left, world_.chance.pick<std::size_t>({20'000, 256u << 10, 1u << 20}));
}

bool sim_results::is_free(const region& of, std::size_t begin, std::size_t end) {
    return std::ranges::none_of(
        of.used, [=](const auto& each) { return each.first < end && begin < each.second.end; });
}

std::optional<region_place> sim_results::put(std::size_t bytes, char letter) {
    for (auto& [number, each] : regions_) {
        if (bytes > each.memory->size()) {
            continue;
        }
        const auto begin = world_.chance.below(each.memory->size() - bytes + 1);
        if (is_free(each, begin, begin + bytes)) {
            each.used.emplace(begin, use{begin + bytes, std::nullopt, false});
            std::ranges::fill(std::span(*each.memory).subspan(begin, bytes), static_cast<std::byte>(letter));
            return region_place{number, begin};
        }
    }
    return std::nullopt;
}

sim_results::use* sim_results::find(const region_place& place) {
    const auto owner = regions_.find(place.region);
    if (owner == regions_.end()) {
        return nullptr;
    }
    const auto found = owner->second.used.find(place.begin);
    return found == owner->second.used.end() ? nullptr : &found->second;
}

void sim_results::on_delivered(const region_place& place) {
    find(place)->read = world_.now();
    ++delivered_;
}

void sim_results::on_told(const region_place& place) {
    auto* const found = find(place);
    if (found == nullptr || !found->read || std::exchange(found->is_told, true)) {
        world_.violated(owner_ + " was told of the release of a place that the pool did not have");
    }
}

void sim_results::on_released(const region_place& place) {
    if (const auto* const found = find(place)) {
        auto& owner = regions_.at(place.region);
        const auto bytes = found->end - place.begin;
        std::ranges::fill(std::span(*owner.memory).subspan(place.begin, bytes), std::byte('!'));
        owner.used.erase(place.begin);
    }
}

bool sim_results::has_told_of_all_until(time_point then) const {
    return std::ranges::all_of(regions_, [then](const auto& each) {
        return std::ranges::all_of(each.second.used, [then](const auto& place) {
            const auto& [end, read, is_told] = place.second;
            return !read || *read >= then || is_told;
        });
    });
}

} // namespace skep::simulation
