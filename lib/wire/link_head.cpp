// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/link_head.hpp"

#include <boost/endian/conversion.hpp>

#include <cstdint>

namespace skep {

namespace {

namespace endian = boost::endian;

// The layout: see lib/remote/PROTOCOL.md.
constexpr std::uint32_t magic = 0x534b4c31; // "SKL1"
constexpr std::size_t at_magic = 0;
constexpr std::size_t at_kind = 4;
constexpr std::size_t at_flags = 5;
constexpr std::size_t at_calls = 6;
constexpr std::size_t at_places = 8;
constexpr std::size_t at_epoch = 10;
constexpr std::size_t at_window = 12;
constexpr std::size_t at_position = 16;
constexpr std::size_t at_expected = 24;
constexpr std::uint8_t draining_flag = 1;
constexpr std::uint8_t full_flag = 2;

using head = std::array<char, link_head_size>;

template <class T>
void put(head& target, std::size_t place, T value) noexcept {
    endian::endian_store<T, sizeof(T), endian::order::big>(
        reinterpret_cast<unsigned char*>(target.data() + place), value);
}

template <class T>
T get(std::string_view bytes, std::size_t place) noexcept {
    return endian::endian_load<T, sizeof(T), endian::order::big>(
        reinterpret_cast<const unsigned char*>(bytes.data() + place));
}

std::uint8_t flags_of(const link_load& load) noexcept {
    return static_cast<std::uint8_t>((load.is_draining ? draining_flag : 0) | (load.is_full ? full_flag : 0));
}

bool is_kind(std::uint8_t number) noexcept {
    return number >= static_cast<std::uint8_t>(link_kind::open) &&
           number <= static_cast<std::uint8_t>(link_kind::close);
}

} // namespace

head encode_link_head(const link_message& message) noexcept {
    head bytes{};
    put(bytes, at_magic, magic);
    put(bytes, at_kind, static_cast<std::uint8_t>(message.kind));
    put(bytes, at_flags, flags_of(message.load));
    put(bytes, at_calls, message.load.calls);
    put(bytes, at_places, message.load.places);
    put(bytes, at_epoch, message.epoch);
    put(bytes, at_window, message.window);
    put(bytes, at_position, message.position);
    put(bytes, at_expected, message.expected);
    return bytes;
}

std::optional<link_message> decode_link_message(std::string_view bytes) noexcept {
    if (bytes.size() < link_head_size || get<std::uint32_t>(bytes, at_magic) != magic ||
        !is_kind(get<std::uint8_t>(bytes, at_kind))) {
        return std::nullopt;
    }
    link_message message;
    message.kind = static_cast<link_kind>(get<std::uint8_t>(bytes, at_kind));
    const auto flags = get<std::uint8_t>(bytes, at_flags);
    message.load.is_draining = (flags & draining_flag) != 0;
    message.load.is_full = (flags & full_flag) != 0;
    message.load.calls = get<std::uint16_t>(bytes, at_calls);
    message.load.places = get<std::uint16_t>(bytes, at_places);
    message.epoch = get<std::uint16_t>(bytes, at_epoch);
    message.window = get<std::uint32_t>(bytes, at_window);
    message.position = get<std::uint64_t>(bytes, at_position);
    message.expected = get<std::uint64_t>(bytes, at_expected);
    message.body = bytes.substr(link_head_size);
    return message;
}

} // namespace skep
