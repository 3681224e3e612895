// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// TLS.

#include "support/certificates.hpp"
#include "support/nats_server.hpp"

namespace skep::test {

namespace {

/// A server that speaks TLS; `asks_clients`: for a certificate, too.
struct secure_server {
    explicit secure_server(bool asks_clients = false)
        : server("tls { cert_file: " + in_quotes(files.path("server.pem")) +
                 ", key_file: " + in_quotes(files.path("server.key")) +
                 (asks_clients ? ", verify: true, ca_file: " + in_quotes(files.path("ca.pem")) : "") + "}") {}

    nats_options options() const {
        auto options = server.tls_options();
        options.ca_file = files.path("ca.pem");
        return options;
    }

    static std::string in_quotes(const std::string& path) { return '"' + path + '"'; }

    const certificates files{"nats.test"};
    nats_server server;
};

/// Expects that a connection is refused with that text.
asio::awaitable<void> expect_refusal(asio::io_context& context, nats_options options, std::string text) {
    nats_program program(context, options);
    co_await program.wait_for_problem(text);
    BOOST_TEST(program.changes.empty());
    co_await program.close();
}

} // namespace

BOOST_AUTO_TEST_SUITE(nats_tls_test)

BOOST_AUTO_TEST_CASE(messages_pass_by_tls) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        secure_server secure;
        nats_program program(context, secure.options());
        program.link().subscribe("data");
        co_await program.work();
        for (std::size_t i = 0; i < 20; ++i) {
            program.publish("data", std::string(300'000, static_cast<char>('a' + i)));
        }
        co_await program.wait_for_messages(20);
        BOOST_TEST((program.messages[19].body == std::string(300'000, 't')));
        secure.server.kill();
        co_await program.wait_until_down();
        secure.server.start();
        co_await program.work();
        co_await program.close();
    });
}

BOOST_AUTO_TEST_CASE(a_server_must_show_a_certificate_of_its_name_by_a_trusted_authority) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const secure_server secure;
        auto by_address = secure.options();
        by_address.servers = {"tls://" + secure.server.address()};
        co_await expect_refusal(context, by_address, "mismatch");
        const certificates others("nats.test");
        auto by_others = secure.options();
        by_others.ca_file = others.path("ca.pem");
        co_await expect_refusal(context, by_others, "SSL handshake error");
        auto unknown = secure.options();
        unknown.ca_file = ""; // the system's authorities do not know ours
        co_await expect_refusal(context, unknown, "SSL handshake error");
        co_await expect_refusal(context, secure.server.options(), "SSL handshake error"); // it asks for TLS
        auto no_file = secure.options();
        no_file.ca_file = secure.files.path("none.pem");
        co_await expect_refusal(context, no_file, "none.pem");
    });
}

BOOST_AUTO_TEST_CASE(a_server_that_asks_for_a_certificate_is_shown_one) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const secure_server secure(true);
        auto options = secure.options();
        co_await expect_refusal(context, options, "it may require a certificate");
        options.certificate_file = secure.files.path("client.pem");
        options.key_file = secure.files.path("client.key");
        nats_program program(context, options);
        co_await program.work();
        co_await program.close();
        options.key_file = secure.files.path("server.key");
        co_await expect_refusal(context, options, "server.key");
    });
}

BOOST_AUTO_TEST_CASE(a_server_without_tls_is_not_told_the_password) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server plain;
        auto options = plain.tls_options();
        options.user = "me";
        options.password = "sesame";
        co_await expect_refusal(context, options, "Secure Connection");
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
