// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/link_greeting.hpp"

#include "wire/json_fields.hpp"
#include "wire/json_writer.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/json/value.hpp>

#include <cstdint>

namespace skep {

namespace {

constexpr std::int64_t version = 1;
constexpr json_limits limits_of_wish{8, 64u << 10};

std::string text_of(const json_field& field) {
    if (!field.value.is_string()) {
        throw protocol_violation("'" + std::string(field.key) + "' of the request for a link is no text");
    }
    return std::string(field.value.get_string());
}

} // namespace

std::string encode_link_wish(const link_wish& wish) {
    std::string out = R"({"v":)" + std::to_string(version) + R"(,"pool":)";
    append_json_text(out, wish.pool);
    out += R"(,"client":)";
    append_json_text(out, wish.client);
    return out += "}";
}

link_wish read_link_wish(std::string_view text) {
    link_wish wish;
    bool has_version = false;
    json_field_reader reader(limits_of_wish);
    for (const auto& each : reader.read(text)) {
        if (each.key == "v") {
            has_version = each.value == version;
        } else if (each.key == "pool") {
            wish.pool = text_of(each);
        } else if (each.key == "client") {
            wish.client = text_of(each);
        }
    }
    if (!has_version) {
        throw protocol_violation("the node speaks version " + std::to_string(version) +
                                 " of the link protocol");
    }
    return wish;
}

} // namespace skep
