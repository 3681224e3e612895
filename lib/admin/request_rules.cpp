// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/request_rules.hpp"

#include "core/number_text.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <vector>

namespace skep {

namespace {

std::vector<std::string_view> parts_of(std::string_view path) {
    std::vector<std::string_view> parts;
    while (!path.empty() && path.front() == '/') {
        path.remove_prefix(1);
        const auto end = std::min(path.find('/'), path.size());
        parts.push_back(path.substr(0, end));
        path.remove_prefix(end);
    }
    return parts;
}

/// Parses SLOT.GENERATION.
std::optional<worker_id> worker_in(std::string_view text, const std::string& pool) {
    worker_id id;
    id.pool = pool;
    const auto dot = text.find('.');
    if (dot == std::string_view::npos || !read_number(text.substr(0, dot), id.slot) ||
        !read_number(text.substr(dot + 1), id.generation)) {
        return {};
    }
    return id;
}

/// Returns true for "" or ":PORT".
bool is_port(std::string_view text) {
    unsigned short port = 0;
    return text.empty() || (text.starts_with(':') && (text.size() == 1 || read_number(text.substr(1), port)));
}

/// Returns the host without the port; empty if malformed.
std::string_view name_in(std::string_view host) {
    const bool is_v6 = host.starts_with('[');
    const auto end = std::min(host.find(is_v6 ? ']' : ':'), host.size());
    const auto name = host.substr(is_v6, end - is_v6);
    return is_port(host.substr(std::min(end + is_v6, host.size()))) ? name : std::string_view();
}

} // namespace

std::string_view path_of(std::string_view target) noexcept {
    return target.substr(0, target.find('?'));
}

/// Names of pools need no escapes.
std::optional<admin_change> change_in(std::string_view target) {
    const auto parts = parts_of(path_of(target));
    const bool is_of_pool = parts.size() == 3;
    const bool is_of_worker = parts.size() == 5 && parts[2] == "workers";
    if ((!is_of_pool && !is_of_worker) || parts[0] != "pools") {
        return {};
    }
    admin_change change{std::string(parts[1]), {}, std::string(parts.back())};
    if (is_of_worker) {
        change.worker = worker_in(parts[3], change.pool);
        if (!change.worker) {
            return {};
        }
    }
    return change;
}

bool is_authorised(std::string_view authorization, std::string_view token) noexcept {
    constexpr std::string_view scheme = "Bearer ";
    if (token.empty() || authorization.size() != scheme.size() + token.size() ||
        !authorization.starts_with(scheme)) {
        return false;
    }
    const auto given = authorization.substr(scheme.size());
    unsigned difference = 0;
    for (std::size_t i = 0; i < token.size(); ++i) {
        difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(token[i]);
    }
    return difference == 0;
}

bool is_loopback_host(std::string_view host) {
    const auto name = name_in(host);
    boost::system::error_code ec;
    const auto address = boost::asio::ip::make_address(std::string(name), ec);
    return host.empty() || name == "localhost" || (!ec && address.is_loopback());
}

} // namespace skep
