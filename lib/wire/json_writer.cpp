// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/json_writer.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace skep {

namespace json = boost::json;

namespace {

constexpr std::size_t stride = 32;

// Most keys and names are shorter.
constexpr std::size_t short_text = 40;

bool is_ascii(char c) noexcept {
    return static_cast<unsigned char>(c) < 0x80;
}

constexpr std::size_t character_count = 256;

/// The characters that need neither an escape nor a check.
constexpr auto plain_characters = [] {
    std::array<bool, character_count> plain{};
    for (std::size_t c = 0x20; c < 0x80; ++c) {
        plain[c] = c != '"' && c != '\\';
    }
    return plain;
}();

bool is_plain(char c) noexcept {
    return plain_characters[static_cast<unsigned char>(c)];
}

/// Returns true if no character of the stride needs an escape or a check. Written for vectorisation by the
/// compiler.
bool is_plain_stride(const char* text) noexcept {
    unsigned char special = 0;
    for (std::size_t i = 0; i < stride; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        special |=
            static_cast<unsigned char>((byte < 0x20) | (byte >= 0x80) | (byte == '"') | (byte == '\\'));
    }
    return special == 0;
}

/// Returns the end of the run at `position` that can be copied unchanged: at a character that needs an
/// escape, or at the end of the text.
std::size_t run_end(std::string_view text, std::size_t position) {
    while (position < text.size()) {
        while (text.size() - position >= stride && is_plain_stride(text.data() + position)) {
            position += stride;
        }
        while (position < text.size() && is_plain(text[position])) {
            ++position;
        }
        if (position == text.size() || is_ascii(text[position])) {
            break;
        }
        while (position < text.size() && !is_ascii(text[position])) {
            const auto length = utf8_sequence(text.substr(position));
            if (length == 0) {
                throw unsendable("its text is not valid UTF-8; send raw bytes as attachments");
            }
            position += length;
        }
    }
    return position;
}

/// At least doubles the capacity. A single long text, with some escapes and a rest, gets just enough.
void make_room(std::string& out, std::size_t size) {
    if (out.capacity() - out.size() < size) {
        out.reserve(std::max(out.size() + size, 2 * out.capacity()));
    }
}

/// Appends a plain text in one step.
void append_quoted(std::string& out, std::string_view text) {
    const auto begin = out.size();
    out.append(text.size() + 2, '"');
    std::copy(text.begin(), text.end(), out.begin() + static_cast<std::ptrdiff_t>(begin) + 1);
}

void append_escaped(std::string& out, char c) {
    constexpr std::string_view digits = "0123456789abcdef";
    switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default:
        out += "\\u00";
        out += digits[static_cast<unsigned char>(c) >> 4];
        out += digits[static_cast<unsigned char>(c) & 15];
    }
}

template <class Number>
void append_integer(std::string& out, Number number) {
    std::array<char, 24> text;
    const auto end = std::to_chars(text.begin(), text.end(), number).ptr;
    out.append(text.begin(), end);
}

/// Appends the shortest text that reads back as the same number, as a floating-point number.
void append_double(std::string& out, double number) {
    if (!std::isfinite(number)) {
        throw unsendable("it holds a number that is not finite; JSON knows no NaN and no infinity");
    }
    std::array<char, 32> text;
    const auto end = std::to_chars(text.begin(), text.end(), number).ptr;
    const std::string_view digits(text.begin(), static_cast<std::size_t>(end - text.begin()));
    out += digits;
    if (digits.find_first_of(".e") == std::string_view::npos) {
        out += ".0";
    }
}

/// `levels`: the nesting still allowed.
void append(std::string& out, const json::value& value, std::size_t levels);

/// Puts the end of a list in the place of the comma after its last element.
void end_list(std::string& out, bool is_empty, char end) {
    if (is_empty) {
        out += end;
    } else {
        out.back() = end;
    }
}

void append(std::string& out, const json::array& array, std::size_t levels) {
    out += '[';
    for (const auto& element : array) {
        append(out, element, levels);
        out += ',';
    }
    end_list(out, array.empty(), ']');
}

void append(std::string& out, const json::object& object, std::size_t levels) {
    out += '{';
    for (const auto& member : object) {
        append_json_text(out, member.key());
        out += ':';
        append(out, member.value(), levels);
        out += ',';
    }
    end_list(out, object.empty(), '}');
}

void append(std::string& out, const json::value& value, std::size_t levels) {
    if (value.is_structured() && levels == 0) {
        throw unsendable(
            "it is nested too deep; limits.json_depth less one, and no more than 500, is allowed");
    }
    switch (value.kind()) {
    case json::kind::null: out += "null"; break;
    case json::kind::bool_: out += value.get_bool() ? "true" : "false"; break;
    case json::kind::int64: append_integer(out, value.get_int64()); break;
    case json::kind::uint64: append_integer(out, value.get_uint64()); break;
    case json::kind::double_: append_double(out, value.get_double()); break;
    case json::kind::string: append_json_text(out, value.get_string()); break;
    case json::kind::array: append(out, value.get_array(), levels - 1); break;
    case json::kind::object: append(out, value.get_object(), levels - 1); break;
    }
}

} // namespace

void append_json(std::string& out, const json::value& value, std::size_t deepest) {
    append(out, value, deepest);
}

void append_json(std::string& out, const json::object& object, std::size_t deepest) {
    append(out, object, deepest - 1);
}

void append_json_number(std::string& out, std::uint64_t number) {
    append_integer(out, number);
}

void append_json_text(std::string& out, std::string_view text) {
    if (text.size() <= short_text &&
        std::all_of(text.begin(), text.end(), [](char c) { return is_plain(c); })) {
        append_quoted(out, text);
        return;
    }
    make_room(out, text.size() + text.size() / 64 + 16);
    out += '"';
    std::size_t at = run_end(text, 0);
    out.append(text, 0, at);
    while (at < text.size()) {
        append_escaped(out, text[at]);
        const auto end = run_end(text, at + 1);
        out.append(text, at + 1, end - at - 1);
        at = end;
    }
    out += '"';
}

} // namespace skep
