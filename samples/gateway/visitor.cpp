// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "visitor.hpp"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

namespace gateway {

namespace {

constexpr std::string_view name = "visitor";
constexpr std::size_t digits = 32;

bool has_form(std::string_view text) {
    return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string make_secret() {
    boost::uuids::random_generator_pure generate; // from the kernel
    const auto bytes = generate();
    std::string secret;
    for (const auto byte : bytes) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", byte);
        secret += two;
    }
    return secret;
}

visitor known_by(std::string secret, bool is_new) {
    const boost::uuids::name_generator_sha1 digest(boost::uuids::ns::oid());
    auto session = to_string(digest(secret));
    return {std::move(secret), std::move(session), is_new};
}

} // namespace

visitor visitor_of(const http_request& request) {
    std::string_view cookies = request[http::field::cookie];
    while (!cookies.empty()) {
        const auto end = std::min(cookies.find(';'), cookies.size());
        auto cookie = cookies.substr(0, end);
        cookies.remove_prefix(std::min(end + 1, cookies.size()));
        cookie.remove_prefix(std::min(cookie.find_first_not_of(' '), cookie.size()));
        const auto equals = std::min(cookie.find('='), cookie.size());
        const auto value = cookie.substr(std::min(equals + 1, cookie.size()));
        if (cookie.substr(0, equals) == name && has_form(value)) {
            return known_by(std::string(value), false);
        }
    }
    return known_by(make_secret(), true);
}

std::string cookie_of(const visitor& who) {
    return std::string(name) + '=' + who.secret + "; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax";
}

} // namespace gateway
