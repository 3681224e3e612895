// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "redis/redis_tls.hpp"

#include "core/range_check.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>

#include <new>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace skep {

namespace ssl = asio::ssl;
using boost::system::error_code;

redis_tls::redis_tls(const redis_options& options)
    : context_(ssl::context::tls_client),
      server_name_(options.tls_server_name.empty() ? options.host : options.tls_server_name) {
    ::SSL_CTX_set_min_proto_version(context_.native_handle(), TLS1_2_VERSION);
    ::SSL_CTX_set_options(context_.native_handle(), SSL_OP_NO_RENEGOTIATION);
    context_.set_verify_mode(ssl::verify_peer);
    check_ranges([&](range_check& range) {
        range.group("redis", [&] {
            const auto use = [&](std::string_view field, const std::string& file, auto load) {
                error_code ec;
                if (!file.empty()) {
                    load(file, ec);
                }
                if (ec) {
                    range.where().reject(field, in_quotes(file),
                                         "must be a file that can be used: " + ec.message());
                }
            };
            use("tls_ca_file", options.tls_ca_file,
                [&](const auto& file, auto& ec) { context_.load_verify_file(file, ec); });
            use("tls_certificate_file", options.tls_certificate_file,
                [&](const auto& file, auto& ec) { context_.use_certificate_chain_file(file, ec); });
            use("tls_key_file", options.tls_key_file, [&](const auto& file, auto& ec) {
                context_.use_private_key_file(file, ssl::context::pem, ec);
            });
        });
    });
    if (options.tls_ca_file.empty()) {
        context_.set_default_verify_paths();
    }
}

bool redis_tls::expect_server(::SSL* connection) const {
    error_code is_name;
    asio::ip::make_address(server_name_, is_name);
    auto* const rules = ::SSL_get0_param(connection);
    if (!is_name) {
        return ::X509_VERIFY_PARAM_set1_ip_asc(rules, server_name_.c_str()) == 1;
    }
    ::X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return ::X509_VERIFY_PARAM_set1_host(rules, server_name_.data(), server_name_.size()) == 1 &&
           ::SSL_set_tlsext_host_name(connection, server_name_.c_str()) == 1;
}

std::shared_ptr<redis_tls> make_redis_tls(const redis_options& options) {
    return options.tls ? std::make_shared<redis_tls>(options) : nullptr;
}

} // namespace skep
