// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "otlp/otlp_rules.hpp"

#include "core/range_check.hpp"
#include "core/text.hpp"

#include <boost/beast/core/string.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace skep {

using namespace std::chrono_literals;

namespace {

bool is_token(std::string_view text) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [marks](unsigned char c) {
        return (c < 0x80 && std::isalnum(c) != 0) ||
               marks.find(static_cast<char>(c)) != std::string_view::npos;
    });
}

bool is_ours(std::string_view header) {
    constexpr std::array<std::string_view, 5> ours{"host", "content-type", "content-length", "connection",
                                                   "transfer-encoding"};
    return std::any_of(ours.begin(), ours.end(),
                       [header](std::string_view each) { return boost::beast::iequals(each, header); });
}

bool is_line(std::string_view text) {
    constexpr std::size_t longest = 8u << 10;
    return text.size() <= longest &&
           std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; });
}

void check_texts(const otlp_options& options, const config_path& path) {
    const bool is_host = options.host.find_first_of("/[]@") == std::string::npos;
    if (options.host.empty() || !is_visible_ascii(options.host) || !is_host) {
        path.reject("host", in_quotes(options.host), "must be a name or an address, without scheme and port");
    }
    if (!options.path.starts_with('/') || !is_visible_ascii(options.path)) {
        path.reject("path", in_quotes(options.path),
                    "must begin with / and have visible ASCII characters only");
    }
    for (const auto& [name, value] : options.headers) {
        if (!is_token(name) || is_ours(name) || !is_line(value)) {
            path.reject("headers", in_quotes(name), "must be a header's name, with a value of one line");
        }
    }
    bool is_text = is_utf8(options.service_name);
    for (const auto& [key, value] : options.resource) {
        is_text = is_text && is_utf8(key) && is_utf8(value) && key != "service.name";
    }
    if (!is_text) {
        path.reject("resource", "(not shown)",
                    "and service_name must be UTF-8, and the latter is not in the former");
    }
}

} // namespace

otlp_options checked(otlp_options options) {
    check_ranges([&options](auto& range) {
        check_texts(options, range.where());
        range.number("port", options.port, 1, 65'535);
        range.number("batch", options.batch, 1, 10'000);
        range.time("interval", options.interval, 10ms, 1min);
        range.number("capacity", options.capacity, 1, 1'000'000);
        range.time("timeout", options.timeout, 10ms, 1min);
        range.number("attempts", options.attempts, 1, 100);
        range.time("backoff", options.backoff, 1ms, 1min);
        range.time("max_backoff", options.max_backoff, 1ms, 10min);
    });
    return options;
}

} // namespace skep
