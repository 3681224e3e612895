// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/json_fields.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/system/system_error.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace skep {

/// Calls `read(field)` for each member of the message. Returns false if the message is too long or no object,
/// or if `read` throws because a member has another type.
template <class Read>
bool read_members(std::string_view message, std::size_t most_bytes, const json_limits& limits, Read&& read) {
    if (message.size() > most_bytes) {
        return false;
    }
    try {
        json_field_reader reader(limits);
        for (const auto& each : reader.read(message)) {
            read(each);
        }
        return true;
    } catch (const protocol_violation&) {
        return false;
    } catch (const boost::system::system_error&) { // a member of another type, or none
        return false;
    } catch (const std::logic_error&) { // likewise, thrown by older Boost
        return false;
    }
}

/// The rules of a message on the bus: a JSON object with its version as the member "v".
struct bus_message_rules {
    std::size_t most_bytes;
    std::int64_t version;
    json_limits limits{8, 64u << 10};
};

/// The same for a message on the bus. Returns false for another version as well.
template <class Read>
bool read_members(std::string_view message, const bus_message_rules& rules, Read&& read) {
    bool has_version = false;
    const auto read_but_version = [&](const json_field& each) {
        if (each.key == "v") {
            has_version = each.value.to_number<std::int64_t>() == rules.version;
        } else {
            read(each);
        }
    };
    return read_members(message, rules.most_bytes, rules.limits, read_but_version) && has_version;
}

} // namespace skep
