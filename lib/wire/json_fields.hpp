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
    /// `content`: what a value is made of.
    template <class Content>
    json_field(std::string_view name, Content&& content) : key(name), value(std::forward<Content>(content)) {}

    std::string_view key;
    boost::json::value value;
};

/// Reads the JSON object of a message into its members, in one pass and without a table for the object
/// itself. Refuses what would harm the host or be read in two ways: other top-level types, too deep nesting,
/// a tree that would grow past its limit, duplicate keys, numbers that are not finite, integers beyond 64 bits, text
/// that is not UTF-8. Reused for every message of a channel, to spare allocations.
///
/// The tree counts for 24 bytes a scalar, and for strings their text besides; 56 an array or object; 40 a member of
/// an object, and its key.
class json_field_reader {
public:
    explicit json_field_reader(const json_limits& limits);
    ~json_field_reader();
    json_field_reader(json_field_reader&&) noexcept;

    /// The members, valid until the next call and as long as `text`; values may be moved out. Throws
    /// protocol_violation.
    std::vector<json_field>& read(std::string_view text);

    // The same in steps, for a text that takes long:

    void begin(std::string_view text);

    /// Reads on until that has cost about so many nanoseconds; see cost_of_reading(). Returns true once all of the text has
    /// been read. The end of an array or object of n elements costs another 24n or 40n bytes of copying, in one step.
    bool read_on(std::size_t cost);

    /// The members, once all has been read.
    std::vector<json_field>& fields() noexcept;

    /// What the text read last counts for.
    std::size_t tree_bytes() const noexcept;

private:
    class parser;
    std::unique_ptr<parser> parser_;
};

} // namespace skep
