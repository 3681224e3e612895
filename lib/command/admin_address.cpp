// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/admin_address.hpp"

#include "command/usage_error.hpp"
#include "core/number_text.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace skep {

namespace {

[[noreturn]] void refuse_url(std::string_view text, std::string_view rule) {
    throw usage_error(std::string(text) + " is no URL of an admin port: " + std::string(rule));
}

bool is_host(std::string_view host) noexcept {
    constexpr std::string_view marks = ".-_:%";
    return !host.empty() && std::all_of(host.begin(), host.end(), [marks](unsigned char c) {
        return std::isalnum(c) != 0 || marks.find(static_cast<char>(c)) != marks.npos;
    });
}

/// Removes "http://" and a final slash.
std::string_view authority_in(std::string_view text) {
    auto rest = text;
    if (const auto end = rest.find("://"); end != rest.npos) {
        if (rest.substr(0, end) != "http") {
            refuse_url(text, "the scheme is http (for https, use a tunnel such as ssh -L)");
        }
        rest.remove_prefix(end + 3);
    }
    const auto slash = rest.find('/');
    if (slash != rest.npos && slash + 1 != rest.size()) {
        refuse_url(text, "it has no path");
    }
    return rest.substr(0, slash);
}

} // namespace

std::string admin_url::authority() const {
    const bool is_v6 = host.find(':') != host.npos;
    return (is_v6 ? '[' + host + ']' : host) + ':' + port;
}

admin_url parse_admin_url(std::string_view text) {
    const auto authority = authority_in(text);
    if (authority.find('@') != authority.npos) {
        throw usage_error("a URL of an admin port has no user: the token belongs in SKEP_ADMIN_TOKEN");
    }
    const auto colon = authority.rfind(':');
    std::uint16_t port = 0;
    if (colon == authority.npos || !read_number(authority.substr(colon + 1), port) || port == 0) {
        refuse_url(text, "it has the form http://HOST:PORT");
    }
    auto host = authority.substr(0, colon);
    const bool is_v6 = host.starts_with('[') && host.ends_with(']');
    host = is_v6 ? host.substr(1, host.size() - 2) : host;
    if (!is_host(host) || (!is_v6 && host.find(':') != host.npos)) {
        refuse_url(text, "it has the form http://HOST:PORT");
    }
    return {std::string(host), std::to_string(port)};
}

admin_target parse_admin_target(std::string_view text) {
    const auto slash = text.find('/');
    admin_target target{std::string(text.substr(0, slash)), {}, {}};
    bool is_good = is_name(target.pool);
    if (slash != text.npos) {
        const auto worker = text.substr(slash + 1);
        const auto hash = worker.find('#');
        is_good = read_number(worker.substr(0, hash), target.slot.emplace()) && is_good;
        is_good =
            (hash == worker.npos || read_number(worker.substr(hash + 1), target.generation.emplace())) &&
            is_good;
    }
    if (!is_good) {
        throw usage_error('"' + std::string(text) +
                          "\" names no pool or worker: it is POOL, POOL/SLOT or POOL/SLOT#GENERATION");
    }
    return target;
}

} // namespace skep
