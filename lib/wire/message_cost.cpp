// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/message_cost.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace skep {

std::size_t memory_of(const boost::json::value& value) {
    constexpr std::size_t scalar = 24;
    constexpr std::size_t structure = 56;
    constexpr std::size_t member = 40;
    std::size_t sum = scalar;
    if (const auto* const text = value.if_string()) {
        sum += text->size();
    } else if (const auto* const array = value.if_array()) {
        sum = structure;
        for (const auto& element : *array) {
            sum += memory_of(element);
        }
    } else if (const auto* const object = value.if_object()) {
        sum = structure;
        for (const auto& [key, inner] : *object) {
            sum += member + key.size() + memory_of(inner);
        }
    }
    return sum;
}

} // namespace skep
