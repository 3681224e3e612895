// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace skep {

/// Follows the frames of Redis' replies (RESP2), byte by byte. Checks the sizes announced in headers before a
/// parser may allocate memory for them: a header is passed on only if its number is within every limit.
class reply_scanner {
public:
    static constexpr std::size_t most_elements = 64; ///< of all arrays of a reply together; the scripts use 9
    static constexpr std::size_t deepest = 4;        ///< nesting of arrays
    static constexpr std::size_t longest_line = 16u << 10;

    /// `reply_bytes` is the limit for one reply including its frames.
    explicit reply_scanner(std::size_t reply_bytes) noexcept : reply_bytes_(reply_bytes) {}

    /// Returns the number of bytes that a parser may read: all bytes, or the bytes before the first
    /// violation. After a violation, problem() names the rule, and no more bytes are accepted.
    std::size_t scan(std::string_view bytes);

    /// Returns the violation, such as "sent a reply of ..."; empty without a violation.
    const std::string& problem() const noexcept { return problem_; }

private:
    enum class part { type, line, line_end, body, body_return, body_end };

    /// Consumes one byte, or the available part of a body; returns the number of bytes.
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
    std::size_t elements_ = 0; ///< announced by the arrays of the reply so far
    std::size_t line_ = 0;     ///< bytes of the line so far
    std::size_t body_ = 0;     ///< missing bytes of the body
    std::size_t depth_ = 0;
    std::array<long long, deepest> missing_{}; ///< missing elements of each open array
    std::array<char, 20> number_{};            ///< fits the longest number of 64 bits
};

} // namespace skep
