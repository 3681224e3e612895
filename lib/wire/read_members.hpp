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

/// The rules of a message on the bus: a JSON object with its version as the member "v".
struct bus_message_rules {
    std::size_t most_bytes;
    std::int64_t version;
    json_limits limits{8, 64u << 10};
};

/// Calls `read(field)` for each member of the message. Returns false if the message is too long, no object,
/// or of another version, or if `read` throws because a member has another type.
template <class Read>
bool read_members(std::string_view message, const bus_message_rules& rules, Read&& read) {
    if (message.size() > rules.most_bytes) {
        return false;
    }
    bool has_version = false;
    try {
        json_field_reader reader(rules.limits);
        for (const auto& each : reader.read(message)) {
            if (each.key == "v") {
                has_version = each.value.to_number<std::int64_t>() == rules.version;
            } else {
                read(each);
            }
        }
    } catch (const protocol_violation&) {
        return false;
    } catch (const boost::system::system_error&) { // a member of another type, or none
        return false;
    } catch (const std::logic_error&) { // likewise, thrown by older Boost
        return false;
    }
    return has_version;
}

} // namespace skep
