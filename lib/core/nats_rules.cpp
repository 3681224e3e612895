// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/nats_rules.hpp"

#include "core/nats_address.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

namespace {

bool is_tls(const std::string& server) {
    const auto address = parse_nats_address(server);
    return address && address->has_tls;
}

/// The value of a server with a password is a secret.
void check_servers(const range_check& range, const std::vector<std::string>& servers) {
    range.number("servers", servers.size(), 1, 64);
    for (std::size_t i = 0; i < servers.size(); ++i) {
        if (!parse_nats_address(servers[i])) {
            const bool has_secret = servers[i].find('@') != std::string::npos;
            range.where().reject("servers[" + std::to_string(i) + "]",
                                 has_secret ? "" : in_quotes(servers[i]),
                                 "must be nats://HOST:PORT or tls://HOST:PORT, without user and password");
        }
    }
}

void check_identity(const range_check& range, const nats_options& options) {
    const bool has_user = !options.user.empty() || !options.password.empty();
    const auto ways = int(has_user) + int(!options.token.empty()) + int(!options.nkey_seed_file.empty()) +
                      int(!options.creds_file.empty());
    if (ways > 1) {
        range.where().reject("user", "",
                             "only one of user, token, nkey_seed_file and creds_file may be present");
    }
    if (options.user.empty() && has_user) {
        range.where().reject("password", "", "needs a user");
    }
    if (options.password.empty() && has_user) {
        range.where().reject("user", in_quotes(options.user), "needs a password");
    }
}

void check_tls(const range_check& range, const nats_options& options) {
    const auto needs = [&](bool is_present, std::string_view field, const std::string& value, bool is_kept,
                           const std::string& rule) {
        if (is_present && !is_kept) {
            range.where().reject(field, value, rule);
        }
    };
    const auto file_needs = [&](std::string_view field, const std::string& path, bool is_kept,
                                const std::string& rule) {
        needs(!path.empty(), field, in_quotes(path), is_kept, rule);
    };
    const bool has_tls = std::any_of(options.servers.begin(), options.servers.end(), is_tls);
    const std::string tls_rule = "needs a server with tls://";
    file_needs("ca_file", options.ca_file, has_tls, tls_rule);
    file_needs("certificate_file", options.certificate_file, has_tls, tls_rule);
    file_needs("certificate_file", options.certificate_file, !options.key_file.empty(), "needs a key_file");
    file_needs("key_file", options.key_file, !options.certificate_file.empty(), "needs a certificate_file");
    needs(options.tls_first, "tls_first", "true", has_tls, tls_rule);
}

/// A subject is made of parts with a dot between them; `*` and `>` are for subscriptions.
bool is_subject(std::string_view text) {
    return is_visible_ascii(text) && text.find_first_of("*>") == text.npos && !text.starts_with('.') &&
           !text.ends_with('.') && text.find("..") == text.npos;
}

void check_inbox(const range_check& range, const std::string& inbox) {
    if (inbox.empty() || inbox.size() > 128 || !is_subject(inbox)) {
        range.where().reject("inbox", in_quotes(inbox),
                             "must be a subject of 1..128 bytes, without \"*\" and \">\"");
    }
}

} // namespace

void check_nats_rules(const nats_options& options, const range_check& range) {
    check_servers(range, options.servers);
    check_identity(range, options);
    check_tls(range, options);
    check_inbox(range, options.inbox);
}

} // namespace skep
