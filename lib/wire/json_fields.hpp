// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/json/value.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skep {

struct json_limits {
    std::size_t depth;
    std::size_t tree_bytes;
};

/// One member of a message's top-level object.
struct json_field {
    /// `content`: any argument for a JSON value.
    template <class Content>
    json_field(std::string_view name, Content&& content) : key(name), value(std::forward<Content>(content)) {}

    std::string_view key;
    boost::json::value value;
};

/// Reads the JSON object of a message into its members, in one pass and without a table for the object
/// itself. Refuses harmful or ambiguous JSON: other top-level types, too deep nesting, a tree that would grow
/// past its limit, duplicate keys, numbers that are not finite, integers beyond 64 bits, text that is not
/// UTF-8. Reused for every message of a channel, to save allocations.
///
/// Sizes in the tree, in bytes: 24 per scalar, plus the text of a string; 56 per array or object; 40 per
/// member of an object, plus its key.
class json_field_reader {
public:
    explicit json_field_reader(const json_limits& limits);
    ~json_field_reader();
    json_field_reader(json_field_reader&&) noexcept;

    /// Returns the members, valid until the next call and as long as `text`. The caller may move the values
    /// out. Throws protocol_violation.
    std::vector<json_field>& read(std::string_view text);

    /// Reads `text` as the last value of a message with a tree of `bytes_before` up to there, at a third of
    /// the cost of read(). Returns null if the text is anything but one harmless value without white space
    /// around it; read() of the whole message tells why. The value is valid as long as those of read().
    boost::json::value* read_value(std::string_view text, std::size_t bytes_before);

    // The same in steps, for a large text:

    void begin(std::string_view text);

    /// Reads on until the estimated cost reaches about `cost` nanoseconds; see cost_of_reading(). Returns
    /// true once the whole text has been read. The end of an array or object of n elements costs another 24n
    /// or 40n bytes of copying, in one step.
    bool read_on(std::size_t cost);

    /// Returns the members. Precondition: the whole text has been read.
    std::vector<json_field>& fields() noexcept;

    /// Returns the size of the tree of the last text, in bytes.
    std::size_t tree_bytes() const noexcept;

private:
    class parser;
    std::unique_ptr<parser> parser_;
};

} // namespace skep
