// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "redis/redis_rules.hpp"

#include "core/range_check.hpp"

#include <chrono>

namespace skep {

using namespace std::chrono_literals;

namespace {

void check_length(const range_check& range, std::string_view field, const std::string& text, std::size_t low,
                  std::size_t high) {
    if (text.size() < low || text.size() > high) {
        range.where().reject(field, in_quotes(text),
                             "must have " + std::to_string(low) + ".." + std::to_string(high) + " bytes");
    }
}

void check_tls(const range_check& range, const redis_options& options) {
    const auto refuse_with = [&](std::string_view field, const std::string& text, const std::string& rule) {
        if (!text.empty()) {
            range.where().reject(field, in_quotes(text), rule);
        }
    };
    if (!options.tls) {
        refuse_with("tls_ca_file", options.tls_ca_file, "needs tls");
        refuse_with("tls_server_name", options.tls_server_name, "needs tls");
        refuse_with("tls_certificate_file", options.tls_certificate_file, "needs tls");
        refuse_with("tls_key_file", options.tls_key_file, "needs tls");
        return;
    }
    refuse_with("unix_socket", options.unix_socket, "must be empty with tls");
    if (options.tls_certificate_file.empty()) {
        refuse_with("tls_key_file", options.tls_key_file, "needs a tls_certificate_file");
    }
    if (options.tls_key_file.empty()) {
        refuse_with("tls_certificate_file", options.tls_certificate_file, "needs a tls_key_file");
    }
    check_length(range, "tls_server_name", options.tls_server_name, 0, 255);
}

} // namespace

void check(const redis_options& options) {
    check_ranges([&](range_check& range) {
        range.group("redis", [&] {
            check_length(range, "host", options.host, 1, 255);
            range.number("port", options.port, 1, 65'535);
            check_length(range, "unix_socket", options.unix_socket, 0, 107);
            if (!options.username.empty() && options.password.empty()) {
                range.where().reject("username", in_quotes(options.username), "needs a password");
            }
            range.number("database", options.database, 0, 65'535);
            check_tls(range, options);
            check_length(range, "prefix", options.prefix, 1, 128);
            range.time("connect_timeout", options.connect_timeout, 1ms, 10min);
            range.time("operation_timeout", options.operation_timeout, 1ms, 10min);
            range.number("waiting_limit", options.waiting_limit, 1, 1'000'000);
            range.number("waiting_bytes", options.waiting_bytes, 1 << 10, 1 << 30);
            range.number("session_bytes", options.session_bytes, 1 << 10, 256 << 20);
        });
    });
}

} // namespace skep
