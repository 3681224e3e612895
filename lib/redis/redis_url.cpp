// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/with_detail.hpp"
#include <skep/error.hpp>
#include <skep/redis_sessions.hpp>

#include <algorithm>
#include <charconv>

namespace skep {

namespace {

/// The message quotes no part: any part may hold a misplaced password.
[[noreturn]] void refuse_url(const std::string& rule) {
    throw error(errc::invalid_config, with_detail("the URL of Redis: " + rule));
}

/// Removes the text before the first `mark` from `rest`, together with the mark, and returns the text.
/// Without a mark, takes all of `rest`.
std::string_view take_until(std::string_view& rest, char mark) {
    const auto end = std::min(rest.find(mark), rest.size());
    const auto taken = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return taken;
}

std::string percent_decoded(std::string_view text) {
    std::string decoded;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            decoded += text[at];
            continue;
        }
        unsigned char byte = 0;
        const auto digits = text.substr(at + 1, 2);
        const auto* const end = digits.data() + digits.size();
        const auto [stop, problem] = std::from_chars(digits.data(), end, byte, 16);
        if (digits.size() != 2 || problem != std::errc() || stop != end) {
            refuse_url("in user and password, % must be followed by two hexadecimal digits");
        }
        decoded += static_cast<char>(byte);
        at += 2;
    }
    return decoded;
}

unsigned number_of(std::string_view part, std::string_view text) {
    unsigned number = 0;
    const auto* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, number);
    if (text.empty() || problem != std::errc() || stop != end) {
        refuse_url(std::string(part) + " must be a number");
    }
    return number;
}

void read_user(std::string_view user, redis_options& options) {
    const auto colon = user.find(':');
    if (colon == std::string_view::npos) {
        refuse_url("what is before @ must be USER:PASSWORD or :PASSWORD");
    }
    options.username = percent_decoded(user.substr(0, colon));
    options.password = percent_decoded(user.substr(colon + 1));
}

void read_server(std::string_view server, redis_options& options) {
    if (server.starts_with('[')) {
        server.remove_prefix(1);
        if (server.find(']') == std::string_view::npos) {
            refuse_url("[ must be closed by ]");
        }
        options.host = take_until(server, ']');
        if (!server.empty() && !server.starts_with(':')) {
            refuse_url("] must be followed by :PORT, /DATABASE or nothing");
        }
        server.remove_prefix(server.empty() ? 0 : 1);
    } else {
        options.host = take_until(server, ':');
    }
    if (!server.empty()) {
        options.port = number_of("the port", server);
    }
}

} // namespace

redis_options redis_options::from_url(std::string_view url) {
    redis_options options;
    options.tls = url.starts_with("rediss://");
    if (!options.tls && !url.starts_with("redis://")) {
        refuse_url("must begin with redis:// or rediss://");
    }
    url.remove_prefix(options.tls ? 9 : 8);
    if (url.find_first_of("?#") != std::string_view::npos) {
        refuse_url("must end with the database; in user and password, ? is %3F and # is %23");
    }
    auto server = take_until(url, '/');
    if (const auto at = server.rfind('@'); at != std::string_view::npos) {
        read_user(server.substr(0, at), options);
        server.remove_prefix(at + 1);
    } else if (url.find('@') != std::string_view::npos) {
        refuse_url("in user and password, / is %2F");
    }
    read_server(server, options);
    if (!url.empty()) {
        options.database = number_of("the database", url);
    }
    return options;
}

} // namespace skep
