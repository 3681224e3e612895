// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/json_fields.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/system/system_error.hpp>

#include <stdexcept>
#include <string_view>

namespace skep {

/// Calls `read(field)` for each member of the JSON object `text`. Returns false if the text is no object
/// within `limits`, or if `read` throws because a member has another type.
template <class Read>
bool read_members(std::string_view text, const json_limits& limits, Read&& read) {
    try {
        json_field_reader reader(limits);
        for (const auto& each : reader.read(text)) {
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

} // namespace skep
