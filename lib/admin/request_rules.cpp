// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/request_rules.hpp"

#include "core/number_text.hpp"
#include "core/visible_text.hpp"
#include <skep/error.hpp>

#include <boost/asio/ip/address.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serializer.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

namespace skep {

namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t default_timeout_ms = 60'000;
constexpr std::int64_t longest_timeout_ms = 600'000;
constexpr std::size_t longest_answer = 1u << 20;

[[noreturn]] void refuse(std::string rule) {
    error_info info;
    info.detail = std::move(rule);
    throw error(errc::invalid_request, std::move(info));
}

duration timeout_in(const json::object& fields) {
    const auto* const found = fields.if_contains("timeout_ms");
    boost::system::error_code ec;
    const auto number = found == nullptr ? default_timeout_ms : found->to_number<std::int64_t>(ec);
    if (ec || number < 1 || number > longest_timeout_ms) {
        refuse("\"timeout_ms\" must be 1..600000");
    }
    return std::chrono::milliseconds(number);
}

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

/// Returns the JSON of an answer. Refuses an answer that is too long before its JSON takes memory.
std::string json_of(const json::value& answer) {
    std::string text;
    std::array<char, 4096> piece;
    json::serializer writer;
    for (writer.reset(&answer); !writer.done();) {
        text += std::string_view(writer.read(piece.data(), piece.size()));
        if (text.size() > longest_answer) {
            refuse("the answer is too long: the admin port returns at most 1 MiB of JSON");
        }
    }
    return text;
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
std::optional<admin_order> order_in(std::string_view target) {
    const auto parts = parts_of(path_of(target));
    const bool is_of_pool = parts.size() == 3;
    const bool is_of_worker = parts.size() == 5 && parts[2] == "workers";
    if ((!is_of_pool && !is_of_worker) || parts[0] != "pools") {
        return {};
    }
    admin_order order{std::string(parts[1]), {}, std::string(parts.back())};
    if (is_of_worker) {
        order.worker = worker_in(parts[3], order.pool);
        if (!order.worker) {
            return {};
        }
    }
    return order;
}

request call_in(const std::string& body) {
    boost::system::error_code ec;
    const auto document = json::parse(body, ec);
    if (ec || !document.is_object()) {
        refuse("the body must be a JSON object");
    }
    const auto& fields = document.get_object();
    for (const auto& [key, value] : fields) {
        if (key != "command" && key != "args" && key != "timeout_ms") {
            refuse("the body has \"command\", \"args\" and \"timeout_ms\", not \"" +
                   visible({key.data(), key.size()}) + '"');
        }
    }
    const auto* const command = fields.if_contains("command");
    if (command == nullptr || !command->is_string()) {
        refuse("\"command\" must be the name of a command");
    }
    const auto* const args = fields.if_contains("args");
    request call(std::string(command->get_string()), args == nullptr ? json::object() : *args);
    call.timeout(timeout_in(fields));
    return call;
}

std::string text_of(reply answer) {
    json::array sizes;
    for (const auto& each : answer.attachments) {
        sizes.push_back(each.size());
    }
    auto text = json_of(json::object{{"value", std::move(answer.value)},
                                     {"attachments", std::move(sizes)},
                                     {"worker", to_string(answer.worker)},
                                     {"correlation_id", answer.correlation_id},
                                     {"queue_ms", answer.queue_time / 1ms},
                                     {"run_ms", answer.run_time / 1ms}});
    return text + '\n';
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
