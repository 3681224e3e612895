// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/result_memory.hpp"

#include "wire/protocol_violation.hpp"

#include <new>
#include <utility>

namespace skep {

namespace {

/// The use of a place, which is released at its end.
struct place_use {
    place_use(std::shared_ptr<place_releases> receiver, blob used_region, const region_place& used_place)
        : target(std::move(receiver)), region(std::move(used_region)), place(used_place) {}
    place_use(const place_use&) = delete;
    place_use& operator=(const place_use&) = delete;
    ~place_use() { target->add(place); }

    std::shared_ptr<place_releases> target;
    blob region;
    region_place place;
};

} // namespace

void result_memory::end() noexcept {
    line_ = nullptr;
    places_.clear();
}

void result_memory::request(std::uint64_t bytes) {
    if (line_ == nullptr) {
        throw protocol_violation("it asks for memory for results, and shares none");
    }
    places_.request(bytes);
    const auto number = line_->next_number();
    auto memory = line_->make_for_results(number, bytes);
    if (!memory.empty()) {
        places_.add(number, std::move(memory));
    } else if (line_->refuse_for_results(bytes)) {
        places_.refuse();
    }
}

blob result_memory::open(const region_place& place, std::size_t bytes) {
    const auto& region = places_.occupy(place, bytes);
    const auto part = std::span<const std::byte>(region).subspan(place.begin, bytes);
    releases_->make_room(places_.in_use());
    ++opened_;
    const bool is_readable = line_->provide(place, part);
    if (is_readable && options_.show_results) {
        return {std::make_shared<const place_use>(releases_, region, place), part};
    }
    const place_use use(releases_, region, place);
    if (!is_readable) {
        throw std::bad_alloc();
    }
    return blob::copy_of(part);
}

std::span<const region_place> result_memory::released(std::size_t most) {
    sending_ = has_released() ? releases_->first(most) : std::vector<region_place>();
    return sending_;
}

void result_memory::keep_released() noexcept {
    if (sending_.empty()) {
        return;
    }
    releases_->drop_first(sending_.size());
    for (const auto& each : sending_) {
        places_.vacate(each);
    }
    sending_.clear();
}

} // namespace skep
