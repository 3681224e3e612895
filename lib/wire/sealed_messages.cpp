// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/sealed_messages.hpp"

#include "wire/json_writer.hpp"
#include "wire/read_members.hpp"
#include "wire/region_messages.hpp"

namespace skep {

std::string encode_sealed(const sealed_packet& packet) {
    std::string out = R"({"sealed":)";
    append_json_number(out, packet.number);
    out += R"(,"bytes":)";
    append_json_number(out, packet.bytes);
    out += '}';
    return out;
}

std::optional<sealed_packet> decode_sealed(std::string_view text) {
    constexpr json_limits limits{4, 64u << 10};
    sealed_packet packet;
    const bool is_readable = read_members(text, most_region_bytes, limits, [&](const json_field& field) {
        if (field.key == "sealed") {
            packet.number = field.value.to_number<std::uint64_t>();
        } else if (field.key == "bytes") {
            packet.bytes = field.value.to_number<std::size_t>();
        }
    });
    const bool is_sealed = is_readable && packet.number > 0 && packet.bytes > 0;
    return is_sealed ? std::optional(packet) : std::nullopt;
}

} // namespace skep
