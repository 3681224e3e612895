// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/memory_packets.hpp"

#include "wire/json_writer.hpp"
#include "wire/read_members.hpp"

namespace skep {

namespace {

constexpr json_limits limits_of_packets{4, 64u << 10};

} // namespace

std::string encode_region(const region_packet& packet) {
    std::string out = R"({"region":)";
    append_json_number(out, packet.region);
    out += R"(,"bytes":)";
    append_json_number(out, packet.bytes);
    out += packet.is_for_results ? R"(,"results":1})" : "}";
    return out;
}

std::optional<region_packet> decode_region(std::string_view text) {
    region_packet packet;
    const bool is_readable =
        read_members(text, most_packet_bytes, limits_of_packets, [&](const json_field& field) {
            if (field.key == "region") {
                packet.region = field.value.to_number<std::uint64_t>();
            } else if (field.key == "bytes") {
                packet.bytes = field.value.to_number<std::size_t>();
            } else if (field.key == "results") {
                packet.is_for_results = field.value.to_number<std::uint64_t>() != 0;
            }
        });
    const bool is_numbered = packet.region > 0 || packet.is_for_results;
    return is_readable && is_numbered && packet.bytes > 0 ? std::optional(packet) : std::nullopt;
}

std::string encode_sealed(const sealed_packet& packet) {
    std::string out = R"({"sealed":)";
    append_json_number(out, packet.number);
    out += R"(,"bytes":)";
    append_json_number(out, packet.bytes);
    out += '}';
    return out;
}

std::optional<sealed_packet> decode_sealed(std::string_view text) {
    sealed_packet packet;
    const bool is_readable =
        read_members(text, most_packet_bytes, limits_of_packets, [&](const json_field& field) {
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
