// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/result_places.hpp"

#include "wire/protocol_violation.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace skep {

namespace {

// A worker with more places uses them for attachments that are too small for shared memory. The host keeps a
// record of each place.
constexpr std::size_t bytes_per_place = 4096;

std::string place_text(const region_place& place) {
    return "at " + std::to_string(place.begin) + " of region " + std::to_string(place.region);
}

} // namespace

void result_places::request(std::uint64_t bytes) {
    const auto asked = "it asks for a region of " + std::to_string(bytes) + " bytes for results";
    if (is_requested_) {
        throw protocol_violation(asked + " before the answer to its last request");
    }
    if (bytes == 0 || bytes > options_.bytes - size_) {
        throw protocol_violation(asked + " and has " + std::to_string(size_) +
                                 ": the limit, shared.bytes, is " + std::to_string(options_.bytes));
    }
    if (regions_.size() == options_.regions) {
        throw protocol_violation(asked + " and has as many regions as shared.regions allows, which is " +
                                 std::to_string(options_.regions));
    }
    is_requested_ = true;
}

void result_places::add(std::uint64_t number, blob memory) {
    is_requested_ = false;
    size_ += memory.size();
    regions_.emplace(number, region{std::move(memory), 0, {}});
}

const blob& result_places::occupy(const region_place& place, std::size_t bytes) {
    const auto found = regions_.find(place.region);
    if (found == regions_.end()) {
        throw protocol_violation("an attachment is " + place_text(place) +
                                 ", which is none of its regions for results");
    }
    auto& [memory, written, used] = found->second;
    if (bytes == 0 || place.begin > memory.size() || bytes > memory.size() - place.begin) {
        throw protocol_violation("an attachment of " + std::to_string(bytes) + " bytes " + place_text(place) +
                                 " is outside of that region, which has " + std::to_string(memory.size()));
    }
    const auto end = place.begin + bytes;
    const auto next = used.lower_bound(end);
    if (next != used.begin() && std::prev(next)->second > place.begin) {
        throw protocol_violation("an attachment " + place_text(place) +
                                 " overlaps one whose place is not released");
    }
    if (in_use_ == options_.bytes / bytes_per_place) {
        throw protocol_violation("it has more places that are not released than shared.bytes / 4096");
    }
    used.emplace_hint(next, place.begin, end);
    ++in_use_;
    written_ += std::max(written, end) - written;
    written = std::max(written, end);
    return memory;
}

void result_places::vacate(const region_place& place) noexcept {
    if (const auto found = regions_.find(place.region);
        found != regions_.end()) { // else the worker has ended
        in_use_ -= found->second.used.erase(place.begin);
    }
}

} // namespace skep
