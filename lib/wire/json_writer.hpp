// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace skep {

/// The value cannot be written as JSON that every worker reads alike. The text names the rule, and contains
/// no data.
class unsendable : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// The deepest nesting that is ever sent. Python's decoder goes no deeper than about 1000.
inline constexpr std::size_t deepest_nesting = 500;

/// Appends `value` as JSON, in one pass. Copies text in runs and checks the text on the way, unlike
/// boost::json::serializer. Throws unsendable, and leaves a part behind, for text that is not UTF-8, numbers
/// that are not finite, and nesting beyond `deepest` levels.
void append_json(std::string& out, const boost::json::value& value, std::size_t deepest = deepest_nesting);
void append_json(std::string& out, const boost::json::object& object, std::size_t deepest = deepest_nesting);

/// Appends `number` in decimal digits.
void append_json_number(std::string& out, std::uint64_t number);

/// Appends `text` as a JSON string.
void append_json_text(std::string& out, std::string_view text);

} // namespace skep
