// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/answer_memory.hpp"

#include <cstddef>

namespace skep {

std::span<const region_place> answer_memory::pass(const std::vector<blob>& attachments) {
    bool is_any_passed = false;
    auto left = limits_.bytes; // of one message
    places_.assign(attachments.size(), region_place());
    for (std::size_t i = 0; i < attachments.size(); ++i) {
        const auto& each = attachments[i];
        if (!each.is_shared() || each.size() < limits_.least || each.size() > left) {
            continue;
        }
        if (const auto place = memory_->pass(each, limits_.bytes)) {
            places_[i] = *place;
            left -= each.size();
            is_any_passed = true;
        }
    }
    return is_any_passed ? std::span<const region_place>(places_) : std::span<const region_place>();
}

} // namespace skep
