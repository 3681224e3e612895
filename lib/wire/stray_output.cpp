// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/stray_output.hpp"

#include "core/visible_text.hpp"

#include <algorithm>

namespace skep {

namespace {

constexpr std::size_t longest_sample = 80;

bool is_text(unsigned char each) {
    return each >= ' ' || each == '\t' || each == '\n' || each == '\r' || each == '\x1b';
}

bool is_continuation(unsigned char each) {
    return (each & 0xC0u) == 0x80u;
}

} // namespace

std::string stray_output(std::string_view unread_bytes) {
    const auto head = unread_bytes.substr(0, 4);
    if (!std::all_of(head.begin(), head.end(), is_text)) {
        return {};
    }
    unread_bytes.remove_prefix(std::min(unread_bytes.find_first_not_of("\r\n"), unread_bytes.size()));
    const auto line = unread_bytes.substr(0, unread_bytes.find_first_of("\r\n"));
    auto sample = line.substr(0, longest_sample);
    for (std::size_t i = 0; i < 3 && sample.size() < line.size() && is_continuation(line[sample.size()]);
         ++i) {
        sample.remove_suffix(1); // rather than split a character
    }
    return visible(sample) + (sample.size() < line.size() ? "..." : "");
}

} // namespace skep
