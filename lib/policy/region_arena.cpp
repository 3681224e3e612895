// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/region_arena.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace skep {

namespace {

constexpr std::size_t whole_steps(std::size_t bytes) noexcept {
    return (bytes + region_arena::step - 1) / region_arena::step * region_arena::step;
}

} // namespace

region_arena::region_arena(std::size_t most_bytes, std::size_t most_regions) noexcept
    : most_bytes_(most_bytes / step * step), most_regions_(most_regions) {}

std::optional<region_place> region_arena::reserve(std::size_t bytes) {
    if (bytes > most_bytes_) {
        return std::nullopt;
    }
    const auto wanted = whole_steps(bytes);
    for (auto& [number, each] : regions_) {
        const auto room = find_room(each, wanted);
        if (room == each.free.end()) {
            continue;
        }
        const auto [begin, size] = *room;
        each.reserved.emplace(begin, wanted);
        auto rest = each.free.extract(room);
        if (size > wanted) {
            rest.key() = begin + wanted;
            rest.mapped() = size - wanted;
            each.free.insert(std::move(rest));
        }
        return region_place{number, begin};
    }
    return std::nullopt;
}

region_arena::spans::iterator region_arena::find_room(region& owner, std::size_t bytes) noexcept {
    return std::find_if(owner.free.begin(), owner.free.end(),
                        [bytes](const auto& span) { return span.second >= bytes; });
}

std::size_t region_arena::size_of_next(std::size_t bytes) const noexcept {
    if (bytes > most_bytes_ || regions_.size() == most_regions_) {
        return 0;
    }
    const auto least = whole_steps(bytes);
    const auto size = std::min(std::max({first_region, size_, least}), most_bytes_ - size_);
    return size >= least ? size : 0;
}

void region_arena::add(std::uint64_t number, std::size_t size) {
    region made;
    made.free.emplace(0, size);
    regions_.emplace(number, std::move(made));
    size_ += size;
}

void region_arena::drop(std::uint64_t number) noexcept {
    const auto dropped = regions_.find(number);
    size_ -= dropped->second.free.begin()->second;
    regions_.erase(dropped);
}

bool region_arena::release(const region_place& place) noexcept {
    const auto owner = regions_.find(place.region);
    if (owner == regions_.end()) {
        return false;
    }
    auto released = owner->second.reserved.extract(place.begin);
    if (released.empty()) {
        return false;
    }
    join_free(owner->second.free, std::move(released));
    return true;
}

std::size_t region_arena::reserved() const noexcept {
    std::size_t sum = 0;
    for (const auto& [number, each] : regions_) {
        for (const auto& [begin, size] : each.reserved) {
            sum += size;
        }
    }
    return sum;
}

/// Adds a span to the free spans, joined with its neighbours. Allocates nothing.
void region_arena::join_free(spans& free, spans::node_type released) noexcept {
    const auto next = free.lower_bound(released.key());
    if (next != free.end() && next->first == released.key() + released.mapped()) {
        released.mapped() += next->second;
        free.erase(next);
    }
    const auto joined = free.insert(std::move(released)).position;
    if (joined == free.begin()) {
        return;
    }
    const auto before = std::prev(joined);
    if (before->first + before->second == joined->first) {
        before->second += joined->second;
        free.erase(joined);
    }
}

} // namespace skep
