// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/nats_address.hpp"

#include "core/text.hpp"

#include <charconv>
#include <cstdint>

namespace skep {

namespace {

/// Removes `prefix` from `text`. Returns false if the text begins otherwise.
bool skip(std::string_view& text, std::string_view prefix) {
    const bool is_there = text.starts_with(prefix);
    text.remove_prefix(is_there ? prefix.size() : 0);
    return is_there;
}

/// Takes the host from the beginning of `text`, a name or an address in brackets.
std::string_view take_host(std::string_view& text) {
    const bool is_bracketed = skip(text, "[");
    const auto end = text.find(is_bracketed ? ']' : ':');
    if (is_bracketed && end == text.npos) {
        return {};
    }
    const auto host = text.substr(0, end);
    text.remove_prefix(host.size() + (is_bracketed ? 1 : 0));
    return host;
}

/// Returns true for ":PORT" and for an empty text.
bool is_port(std::string_view text) {
    if (text.empty()) {
        return true;
    }
    std::uint16_t port = 0;
    const auto* const end = text.data() + text.size();
    const auto [rest, failure] = std::from_chars(text.data() + 1, end, port);
    return text.front() == ':' && failure == std::errc() && rest == end && port != 0;
}

} // namespace

std::optional<nats_address> parse_nats_address(std::string_view url) {
    nats_address address;
    address.has_tls = skip(url, "tls://");
    if ((!address.has_tls && !skip(url, "nats://")) || !is_visible_ascii(url) ||
        url.find_first_of("@/?#,") != url.npos) {
        return std::nullopt;
    }
    address.url = "nats://" + std::string(url);
    address.host = take_host(url);
    if (address.host.empty() || !is_port(url)) {
        return std::nullopt;
    }
    address.url += url.empty() ? ":4222" : "";
    return address;
}

} // namespace skep
