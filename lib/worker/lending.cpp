// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/lending.hpp"

#include "policy/sharing_allowance.hpp"
#include "wire/attachments.hpp"

#include <algorithm>

namespace skep {

lending::lending(const shared_options& options) noexcept
    : options_(options), arena_(options.bytes, options.regions) {}

void lending::close() noexcept {
    line_.reset();
}

std::span<const region_place> lending::lend(const std::vector<blob>& attachments, std::size_t most) {
    std::size_t count = 0;
    sharing_allowance allowance(options_.bytes);
    places_.assign(attachments.size(), region_place());
    unsent_.reserve(unsent_.size() + attachments.size()); // a reserved place must not be lost
    for (std::size_t i = 0; i < attachments.size() && count < most; ++i) {
        const auto& attachment = attachments[i];
        const bool may_pass = attachment.size() >= options_.least_result && allowance.may_pass(attachment);
        if (attachment.size() < options_.least && !may_pass) {
            continue;
        }
        if (allowance.has_room_for(attachment)) {
            places_[i] = place_one(attachment, may_pass);
        }
        if (has_place(places_, i)) {
            ++count;
            allowance.take(attachment, places_[i]);
        } else {
            ++fallbacks_;
        }
    }
    return count > 0 ? std::span<const region_place>(places_) : std::span<const region_place>();
}

/// Returns no place without room.
region_place lending::place_one(const blob& bytes, bool may_pass) {
    const auto passed = may_pass ? pass(bytes) : region_place();
    return passed.region != 0 || bytes.size() < options_.least ? passed : lend_one(bytes);
}

region_place lending::pass(const blob& bytes) {
    const auto place = line_->pass(sealed_ + 1, bytes, options_.bytes);
    if (!place) {
        return {};
    }
    ++sealed_;
    ++passed_;
    passed_bytes_ += bytes.size();
    return *place;
}

region_place lending::lend_one(std::span<const std::byte> bytes) {
    const auto place = reserve(bytes.size());
    const auto target = place ? line_->open(*place, bytes.size()) : std::span<std::byte>();
    if (target.empty()) {
        if (place) {
            arena_.release(*place);
        }
        return {};
    }
    std::copy(bytes.begin(), bytes.end(), target.begin());
    unsent_.push_back(*place);
    ++lent_;
    return *place;
}

std::optional<region_place> lending::reserve(std::size_t bytes) {
    auto place = arena_.reserve(bytes);
    const auto size = place ? 0 : arena_.size_of_next(bytes);
    if (size > 0) {
        const auto region = line_->next_number();
        arena_.add(region, size);
        if (!line_->make(region, size)) {
            arena_.drop(region);
            return std::nullopt;
        }
        place = arena_.reserve(bytes);
    }
    return place;
}

void lending::take_back() noexcept {
    for (const auto& each : unsent_) {
        arena_.release(each);
    }
    unsent_.clear();
}

} // namespace skep
