// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/lending.hpp"

#include <algorithm>

namespace skep {

lending::lending(const shared_options& options) noexcept
    : options_(options), arena_(options.bytes, options.regions) {}

void lending::close() noexcept {
    line_.reset();
}

std::span<const region_place> lending::lend(const std::vector<blob>& attachments, std::size_t most) {
    std::size_t count = 0;
    places_.assign(attachments.size(), region_place());
    unsent_.reserve(unsent_.size() + attachments.size()); // a reserved place must not be lost
    for (std::size_t i = 0; i < attachments.size() && count < most; ++i) {
        if (attachments[i].size() >= options_.least) {
            places_[i] = lend_one(attachments[i]);
            count += places_[i].region != 0 ? 1 : 0;
        }
    }
    return count > 0 ? std::span<const region_place>(places_) : std::span<const region_place>();
}

/// Returns no region without room.
region_place lending::lend_one(std::span<const std::byte> bytes) {
    const auto place = reserve(bytes.size());
    const auto target = place ? line_->open(*place, bytes.size()) : std::span<std::byte>();
    if (target.empty()) {
        ++fallbacks_;
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
        const auto region = arena_.next_region();
        arena_.add(size);
        if (!line_->make(region, size)) {
            arena_.drop_last();
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
