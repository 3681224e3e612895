// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "session/session_memory.hpp"

#include <boost/json/array.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

namespace skep {

namespace json = boost::json;

namespace {

/// The overhead of an allocation: of the allocator and of the table inside.
constexpr std::size_t overhead = 32;

/// A string up to this length needs no allocation.
constexpr std::size_t in_place = 14;

constexpr std::size_t heap_bytes_of_text(std::size_t capacity) noexcept {
    return capacity > in_place ? capacity + overhead : 0;
}

std::size_t bytes_behind(const json::value& value) noexcept;

std::size_t bytes_of(const json::array& array) noexcept {
    if (array.capacity() == 0) {
        return 0;
    }
    std::size_t total = overhead + array.capacity() * sizeof(json::value);
    for (const auto& element : array) {
        total += bytes_behind(element);
    }
    return total;
}

std::size_t bytes_behind(const json::value& value) noexcept {
    switch (value.kind()) {
    case json::kind::object: return heap_bytes(value.get_object());
    case json::kind::array: return bytes_of(value.get_array());
    case json::kind::string: return heap_bytes_of_text(value.get_string().capacity());
    default: return 0;
    }
}

} // namespace

std::size_t heap_bytes(const json::object& object) noexcept {
    if (object.capacity() == 0) {
        return 0;
    }
    std::size_t total = overhead + object.capacity() * sizeof(json::key_value_pair);
    for (const auto& member : object) {
        total += member.key().size() + overhead + bytes_behind(member.value());
    }
    return total;
}

std::size_t memory_of(const detail::session_state& state, std::size_t size) noexcept {
    constexpr std::size_t in_string = 15; // characters without an allocation
    const auto id = state.id.capacity() > in_string ? state.id.capacity() + overhead : 0;
    return size + id + heap_bytes(state.data.metadata()) + heap_bytes(state.data.programs());
}

} // namespace skep
