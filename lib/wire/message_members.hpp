// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/json_fields.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// The members of one message, converted to the types of the protocol.
class message_members {
public:
    message_members(std::vector<json_field>& fields, std::string_view type) : fields_(fields), type_(type) {}

    boost::json::value* find(std::string_view key) const noexcept {
        for (auto& field : fields_) {
            if (field.key == key) {
                return &field.value;
            }
        }
        return nullptr;
    }

    boost::json::value& value(std::string_view key) const {
        if (auto* found = find(key)) {
            return *found;
        }
        refuse(key, "is missing");
    }

    std::uint64_t number(std::string_view key) const {
        boost::system::error_code ec;
        const auto number = value(key).to_number<std::uint64_t>(ec);
        if (ec) {
            refuse(key, "is not an integer of at most 64 bits, 0 or more");
        }
        return number;
    }

    std::int64_t signed_number(std::string_view key) const {
        const auto found = number(key);
        if (found > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            refuse(key, "is too large");
        }
        return static_cast<std::int64_t>(found);
    }

    std::string text(std::string_view key) const { return to_text(key, value(key)); }

    std::string text_or_empty(std::string_view key) const {
        auto* found = find(key);
        return found == nullptr ? std::string() : to_text(key, *found);
    }

    std::string to_text(std::string_view key, const boost::json::value& value) const {
        return std::string(to_view(key, value));
    }

    std::string_view to_view(std::string_view key, const boost::json::value& value) const {
        if (!value.is_string()) {
            refuse(key, "is not a string");
        }
        return value.get_string();
    }

    [[noreturn]] void refuse(std::string_view key, const char* problem) const {
        throw protocol_violation("field '" + std::string(key) + "' of a '" + std::string(type_) +
                                 "' message " + problem);
    }

private:
    std::vector<json_field>& fields_;
    std::string_view type_;
};

} // namespace skep
