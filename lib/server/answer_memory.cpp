// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/answer_memory.hpp"

#include "core/clock.hpp"
#include "policy/sharing_allowance.hpp"
#include "wire/answer_messages.hpp"
#include "wire/protocol_violation.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace skep {

namespace {

constexpr duration after_refusal = std::chrono::seconds(1);

} // namespace

answer_memory::answer_memory(const shared_limits& limits, shared_line& line, frame_output& control) noexcept
    : limits_(limits), line_(line), control_(control), arena_(limits.bytes, limits.regions) {}

std::vector<region_place> answer_memory::put(const std::vector<blob>& attachments) {
    const auto is_large = [this](const blob& each) { return each.size() >= limits_.least; };
    if (std::ranges::none_of(attachments, is_large) || !line_.is_ours()) {
        return {};
    }
    std::vector<region_place> places(attachments.size());
    sharing_allowance allowance(limits_.bytes);
    for (std::size_t i = 0; i < attachments.size(); ++i) {
        const auto& attachment = attachments[i];
        if (is_large(attachment) && allowance.has_room_for(attachment)) {
            places[i] = put_one(attachment, allowance.may_pass(attachment));
        }
        if (has_place(places, i)) {
            allowance.take(attachment, places[i]);
        }
    }
    const bool is_any_shared = std::ranges::any_of(places, [](const auto& each) { return each.region != 0; });
    return is_any_shared ? places : std::vector<region_place>();
}

/// Returns no place without room or memory.
region_place answer_memory::put_one(const blob& bytes, bool may_pass) try {
    const auto passed = may_pass ? line_.pass(bytes, limits_.bytes) : std::nullopt;
    return passed ? *passed : copy_one(bytes);
} catch (const std::bad_alloc&) { // the places of the attachments before stay known
    return {};
}

region_place answer_memory::copy_one(std::span<const std::byte> bytes) {
    const auto place = reserve(bytes.size());
    if (!place) {
        return {};
    }
    const auto target = regions_.find(place->region)->second.open(place->begin, bytes.size());
    if (target.empty()) {
        arena_.release(*place);
        return {};
    }
    std::copy(bytes.begin(), bytes.end(), target.begin());
    return *place;
}

std::optional<region_place> answer_memory::reserve(std::size_t bytes) {
    auto place = arena_.reserve(bytes);
    if (!place && is_requested_) {
        receive();
        place = arena_.reserve(bytes);
    }
    if (!place && !is_requested_) {
        request(bytes);
    }
    return place;
}

/// A packet whose descriptor finds no room is lost: its region counts for the host.
void answer_memory::receive() try {
    for (auto& each : line_.take_for_results()) {
        is_requested_ = false;
        if (each.number != 0) {
            add(std::move(each));
        } else {
            next_request_ = clock::now() + after_refusal;
        }
    }
} catch (const std::bad_alloc&) {
    next_request_ = time_point::max();
    is_requested_ = false;
}

/// A region that cannot be mapped counts for the host. Without knowledge of the host's sum, the worker could
/// request too much: it requests nothing more.
void answer_memory::add(region_for_results&& region) {
    if (region.memory.empty()) {
        next_request_ = time_point::max();
        return;
    }
    arena_.add(region.number, region.memory.bytes().size());
    regions_.emplace(region.number, std::move(region.memory));
}

void answer_memory::request(std::size_t bytes) {
    const auto size = arena_.size_of_next(bytes);
    if (size == 0 || clock::now() < next_request_) {
        return;
    }
    std::string frame;
    append_region_request(frame, size);
    const std::array<std::string_view, 1> whole{frame};
    is_requested_ = control_.write(whole); // the end of the host shows elsewhere
}

void answer_memory::take_back(std::span<const region_place> places) noexcept {
    for (const auto& each : places) {
        if (!each.is_sealed) {
            arena_.release(each); // nothing for an attachment over the socket
        }
    }
}

void answer_memory::release(std::span<const region_place> places) {
    for (const auto& each : places) {
        if (!arena_.release(each)) {
            throw protocol_violation("the place at " + std::to_string(each.begin) + " of region " +
                                     std::to_string(each.region) + " is released, and not in use");
        }
    }
}

} // namespace skep
