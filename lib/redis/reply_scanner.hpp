// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace skep {

/// Follows the frames of Redis' replies (RESP2), byte by byte. Whatever the headers promise is checked here before a
/// parser may take memory for it: a header is complete only if its number keeps every limit.
class reply_scanner {
public:
    static constexpr std::size_t most_elements = 64; ///< of all arrays of a reply together; the scripts use 9
    static constexpr std::size_t deepest = 4;        ///< arrays in arrays
    static constexpr std::size_t longest_line = 16u << 10;

    /// `reply_bytes` is the limit for one reply, frames included.
    explicit reply_scanner(std::size_t reply_bytes) noexcept : reply_bytes_(reply_bytes) {}

    /// Returns how many of the bytes a parser may have: all, or those before the first that breaks a rule. Then problem()
    /// names the rule, and nothing more is accepted.
    std::size_t scan(std::string_view bytes);

    /// What the server did, as "sent a reply of ..."; empty: nothing wrong.
    const std::string& problem() const noexcept { return problem_; }

private:
    enum class part { type, line, line_end, body, body_return, body_end };

    /// Takes one byte, or as much of a body as there is; returns how many bytes that were.
    std::size_t consume(std::string_view bytes);
    void consume_type(char type);
    void consume_line(char next);
    void end_line();
    void end_element() noexcept;
    void begin_body(long long length);
    void begin_array(long long elements);
    void expect(char next, char expected_character, part then);
    void refuse(std::string problem) { problem_ = std::move(problem); }
    void refuse_foreign() { refuse("does not speak Redis' protocol"); }

    const std::size_t reply_bytes_;
    std::string problem_;
    part at_ = part::type;
    char type_ = 0;
    std::size_t taken_ = 0;    ///< bytes of the reply so far
    std::size_t elements_ = 0; ///< that the arrays of the reply have promised so far
    std::size_t line_ = 0;     ///< bytes of the line so far
    std::size_t body_ = 0;     ///< bytes of the body that are still to come
    std::size_t depth_ = 0;
    std::array<long long, deepest> missing_{}; ///< elements of each open array that are still to come
    std::array<char, 20> number_{};            ///< as long as the longest of 64 bits
};

} // namespace skep
