// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/nats_address.hpp"
#include "support/run.hpp"
#include <skep/remote_options.hpp>

namespace skep::test {

namespace {

template <class Change>
std::string refusal_of_nats_after(Change change) {
    remote_options options;
    change(options.nats);
    try {
        options.validate();
    } catch (const error& failure) {
        BOOST_TEST(failure.kind() == errc::invalid_config);
        return failure.info().detail;
    }
    return "";
}

void set_tls(nats_options& options) {
    options.servers = {"nats://plain", "tls://secure"};
}

} // namespace

BOOST_AUTO_TEST_SUITE(nats_options_test)

BOOST_AUTO_TEST_CASE(the_defaults_keep_the_rules) {
    BOOST_TEST(refusal_of_nats_after([](nats_options&) {}) == "");
}

BOOST_AUTO_TEST_CASE(values_have_ranges) {
    BOOST_TEST(refusal_of_nats_after([](auto& options) { options.connect_timeout = 9ms; }) ==
               "nats.connect_timeout = 9 ms: must be 10 ms..60000 ms");
    BOOST_TEST(refusal_of_nats_after([](auto& options) { options.connect_timeout = 1min; }) == "");
    BOOST_TEST(contains(refusal_of_nats_after([](auto& options) { options.connect_timeout = 61s; }),
                        "connect_timeout"));
    BOOST_TEST(contains(refusal_of_nats_after([](auto& options) { options.ping_interval = 49ms; }),
                        "ping_interval"));
    BOOST_TEST(contains(refusal_of_nats_after([](auto& options) { options.ping_interval = 11min; }),
                        "ping_interval"));
    BOOST_TEST(contains(refusal_of_nats_after([](auto& options) { options.reconnect_wait = 0ms; }),
                        "reconnect_wait"));
    BOOST_TEST(contains(refusal_of_nats_after([](auto& options) { options.reconnect_wait = 61s; }),
                        "reconnect_wait"));
    BOOST_TEST(refusal_of_nats_after([](auto& options) { options.send_buffer = 65'535; }) ==
               "nats.send_buffer = 65535: must be 65536..1073741824");
    BOOST_TEST(contains(refusal_of_nats_after([](auto& options) { options.send_buffer = (1u << 30) + 1; }),
                        "send_buffer"));
}

BOOST_AUTO_TEST_CASE(servers_are_addresses) {
    BOOST_TEST(contains(refusal_of_nats_after([](auto& options) { options.servers.clear(); }),
                        "nats.servers = 0: must be 1..64"));
    BOOST_TEST(contains(refusal_of_nats_after([](auto& options) { options.servers.resize(65, "nats://a"); }),
                        "nats.servers = 65"));
    BOOST_TEST(
        refusal_of_nats_after([](auto& options) {
            options.servers = {"nats://a", "http://b"};
        }) == "nats.servers[1] = \"http://b\": must be nats://HOST:PORT or tls://HOST:PORT, without user and "
              "password");
    const auto with_secret =
        refusal_of_nats_after([](auto& options) { options.servers = {"nats://me:sesame@a:4222"}; });
    BOOST_TEST(contains(with_secret, "nats.servers[0]: must be"), with_secret);
    BOOST_TEST(!contains(with_secret, "sesame"));
}

BOOST_AUTO_TEST_CASE(one_way_to_authenticate_at_most) {
    BOOST_TEST(refusal_of_nats_after([](auto& options) {
                   options.user = "me";
                   options.password = "sesame";
               }) == "");
    BOOST_TEST(refusal_of_nats_after([](auto& options) { options.user = "me"; }) ==
               "nats.user = \"me\": needs a password");
    BOOST_TEST(refusal_of_nats_after([](auto& options) { options.password = "sesame"; }) ==
               "nats.password: needs a user");
    BOOST_TEST(refusal_of_nats_after([](auto& options) { options.token = "sesame"; }) == "");
    BOOST_TEST(refusal_of_nats_after([](auto& options) { options.nkey_seed_file = "a"; }) == "");
    BOOST_TEST(refusal_of_nats_after([](auto& options) { options.creds_file = "a"; }) == "");
    BOOST_TEST(refusal_of_nats_after([](auto& options) {
                   options.token = "sesame";
                   options.creds_file = "a";
               }) == "nats.user: only one of user, token, nkey_seed_file and creds_file may be present");
}

BOOST_AUTO_TEST_CASE(files_of_tls_need_a_server_with_tls) {
    BOOST_TEST(refusal_of_nats_after([](auto& options) { options.ca_file = "a"; }) ==
               "nats.ca_file = \"a\": needs a server with tls://");
    BOOST_TEST(refusal_of_nats_after([](auto& options) {
                   set_tls(options);
                   options.ca_file = "a";
                   options.certificate_file = "b";
                   options.key_file = "c";
               }) == "");
    BOOST_TEST(refusal_of_nats_after([](auto& options) {
                   set_tls(options);
                   options.certificate_file = "b";
               }) == "nats.certificate_file = \"b\": needs a key_file");
    BOOST_TEST(refusal_of_nats_after([](auto& options) {
                   set_tls(options);
                   options.key_file = "c";
               }) == "nats.key_file = \"c\": needs a certificate_file");
    BOOST_TEST(contains(refusal_of_nats_after([](auto& options) { options.tls_first = true; }),
                        "nats.tls_first = true: needs a server with tls://"));
    BOOST_TEST(refusal_of_nats_after([](auto& options) {
                   set_tls(options);
                   options.tls_first = true;
               }) == "");
}

BOOST_AUTO_TEST_CASE(an_inbox_is_the_beginning_of_a_subject) {
    for (const std::string inbox : {"", "a b", "a.*", ">", ".a", "a.", "a..b", "a\n"}) {
        const auto text = refusal_of_nats_after([&](auto& options) { options.inbox = inbox; });
        BOOST_TEST(contains(text, "nats.inbox = \"" + inbox + "\": must be a subject of 1..128 bytes"), text);
    }
    BOOST_TEST(refusal_of_nats_after([](auto& options) { options.inbox = "_INBOX.service.a"; }) == "");
    BOOST_TEST(refusal_of_nats_after([](auto& options) { options.inbox = std::string(128, 'a'); }) == "");
    BOOST_TEST(refusal_of_nats_after([](auto& options) { options.inbox = std::string(129, 'a'); }) != "");
}

BOOST_AUTO_TEST_CASE(addresses_are_read) {
    const auto plain = parse_nats_address("nats://one.example");
    BOOST_REQUIRE(plain.has_value());
    BOOST_TEST(plain->url == "nats://one.example:4222");
    BOOST_TEST(plain->host == "one.example");
    BOOST_TEST(!plain->has_tls);
    const auto secure = parse_nats_address("tls://10.0.0.1:65535");
    BOOST_REQUIRE(secure.has_value());
    BOOST_TEST(secure->url == "nats://10.0.0.1:65535");
    BOOST_TEST(secure->host == "10.0.0.1");
    BOOST_TEST(secure->has_tls);
    const auto long_address = parse_nats_address("nats://[::1]:1");
    BOOST_REQUIRE(long_address.has_value());
    BOOST_TEST(long_address->url == "nats://[::1]:1");
    BOOST_TEST(long_address->host == "::1");
    BOOST_TEST(parse_nats_address("nats://[::1]")->url == "nats://[::1]:4222");
    for (const std::string bad : {"",
                                  "a",
                                  "a:4222",
                                  "nats:/a",
                                  "nats://",
                                  "nats://:1",
                                  "nats://a:",
                                  "nats://a:0",
                                  "nats://a:65536",
                                  "nats://a:1x",
                                  "nats://a:-1",
                                  "nats://a:1:2",
                                  "nats://[::1",
                                  "nats://[]",
                                  "nats://[::1]1",
                                  "nats://a/b",
                                  "nats://a?b",
                                  "nats://a b",
                                  "nats://u@a",
                                  "nats://a,b",
                                  "NATS://a"}) {
        BOOST_TEST(!parse_nats_address(bad).has_value(), bad);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
