// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/region_messages.hpp"

#include "wire/json_writer.hpp"
#include "wire/read_members.hpp"

namespace skep {

namespace {

constexpr json_limits limits_of_regions{4, 64u << 10};

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
        read_members(text, most_region_bytes, limits_of_regions, [&](const json_field& field) {
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

} // namespace skep
