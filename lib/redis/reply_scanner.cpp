// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "redis/reply_scanner.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace skep {

namespace {

/// Returns true if lines of that type are a number.
bool is_number(char type) noexcept {
    return type == ':' || type == '$' || type == '*';
}

/// Accepts only Redis' form of numbers: without a plus sign and leading zeros.
std::optional<long long> to_number(std::string_view text) {
    long long number = 0;
    const auto problem = std::from_chars(text.data(), text.data() + text.size(), number).ec;
    return problem == std::errc() && std::to_string(number) == text ? std::optional(number) : std::nullopt;
}

} // namespace

std::size_t reply_scanner::scan(std::string_view bytes) {
    std::size_t good = 0;
    while (good < bytes.size() && problem_.empty()) {
        const auto count = consume(bytes.substr(good));
        good += problem_.empty() ? count : 0;
    }
    return good;
}

std::size_t reply_scanner::consume(std::string_view bytes) {
    const auto count = at_ == part::body ? std::min(body_, bytes.size()) : 1;
    taken_ += count;
    if (taken_ > reply_bytes_) {
        refuse("sent a reply of more than " + std::to_string(reply_bytes_) + " bytes");
        return count;
    }
    const auto next = bytes.front();
    switch (at_) {
    case part::type: consume_type(next); break;
    case part::line: consume_line(next); break;
    case part::line_end:
        if (next == '\n') {
            end_line();
        } else {
            refuse_foreign();
        }
        break;
    case part::body:
        body_ -= count;
        at_ = body_ == 0 ? part::body_return : part::body;
        break;
    case part::body_return: expect(next, '\r', part::body_end); break;
    case part::body_end:
        expect(next, '\n', part::type);
        end_element();
        break;
    }
    return count;
}

void reply_scanner::consume_type(char type) {
    if (type != '+' && type != '-' && !is_number(type)) {
        refuse_foreign();
    }
    type_ = type;
    line_ = 0;
    at_ = part::line;
}

void reply_scanner::consume_line(char next) {
    if (next == '\r') {
        at_ = part::line_end;
    } else if (next == '\n' || (is_number(type_) && line_ == number_.size())) {
        refuse_foreign();
    } else if (line_ == longest_line) {
        refuse("sent a line of more than " + std::to_string(longest_line) + " bytes");
    } else {
        if (is_number(type_)) {
            number_[line_] = next;
        }
        ++line_;
    }
}

void reply_scanner::end_line() {
    at_ = part::type;
    if (!is_number(type_)) {
        end_element();
        return;
    }
    const auto number = to_number({number_.data(), line_});
    if (!number) {
        refuse_foreign();
    } else if (type_ == ':' || *number == -1) { // a length of -1 stands for nil
        end_element();
    } else if (*number < 0) {
        refuse_foreign();
    } else {
        if (type_ == '$') {
            begin_body(*number);
        } else {
            begin_array(*number);
        }
    }
}

void reply_scanner::begin_body(long long length) {
    body_ = static_cast<std::size_t>(length);
    if (body_ > reply_bytes_ - taken_) {
        refuse("announced " + std::to_string(length) + " bytes, where a reply may have " +
               std::to_string(reply_bytes_));
    }
    at_ = body_ == 0 ? part::body_return : part::body;
}

void reply_scanner::begin_array(long long elements) {
    if (elements == 0) {
        end_element();
    } else if (static_cast<std::size_t>(elements) > most_elements - elements_) {
        refuse("announced " + std::to_string(elements) + " elements, where a reply may have " +
               std::to_string(most_elements));
    } else if (depth_ == deepest) {
        refuse("sent arrays in arrays, more than " + std::to_string(deepest) + " deep");
    } else {
        elements_ += static_cast<std::size_t>(elements);
        missing_[depth_++] = elements;
    }
}

void reply_scanner::end_element() noexcept {
    while (depth_ > 0 && --missing_[depth_ - 1] == 0) {
        --depth_;
    }
    if (depth_ == 0) {
        taken_ = 0;
        elements_ = 0;
    }
}

void reply_scanner::expect(char next, char expected_character, part then) {
    if (next != expected_character) {
        refuse_foreign();
    }
    at_ = then;
}

} // namespace skep
