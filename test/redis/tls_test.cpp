// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// TLS, authentication, and URLs.

#include "support/certificates.hpp"
#include "support/redis_liar.hpp"
#include "support/redis_process.hpp"

#include <cstdio>
#include <memory>

namespace skep::test {

namespace {

/// For a server at that port.
std::vector<std::string> server_arguments(const certificates& files, unsigned port,
                                          const std::string& asks_clients) {
    return {"--tls-port",         std::to_string(port),
            "--tls-cert-file",    files.path("server.pem"),
            "--tls-key-file",     files.path("server.key"),
            "--tls-ca-cert-file", files.path("ca.pem"),
            "--tls-auth-clients", asks_clients};
}

/// A server that speaks TLS, and how to reach it.
struct secure_server {
    explicit secure_server(const std::string& asks_clients = "no", std::vector<std::string> more = {})
        : server(false, with(server_arguments(files, port, asks_clients), std::move(more))) {}

    redis_options options() const {
        auto where = server.options();
        where.host = "localhost";
        where.port = port;
        where.tls = true;
        where.tls_ca_file = files.path("ca.pem");
        return where;
    }

    static std::vector<std::string> with(std::vector<std::string> first, std::vector<std::string> more) {
        first.insert(first.end(), more.begin(), more.end());
        return first;
    }

    const unsigned port = redis_process::free_port();
    const certificates files{"redis.test"};
    redis_process server;
};

/// Connections that the server has accepted so far, with the one that this makes.
int connections_to(const redis_process& server) {
    const auto line = "redis-cli -p " + std::to_string(server.options().port) + " info stats";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(::popen(line.c_str(), "r"), &::pclose);
    std::string text(4'096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), output.get()));
    const std::string name = "total_connections_received:";
    return std::stoi(text.substr(text.find(name) + name.size()));
}

asio::awaitable<std::string> refusal_at(asio::io_context& context, redis_options where) {
    redis_service service(context, where);
    const auto failure = co_await failure_of(service.store.get("a"));
    BOOST_TEST(failure.kind() == errc::session_backend_failed);
    co_return failure.what();
}

std::string refusal_of(const redis_options& options) {
    asio::io_context context;
    try {
        const redis_sessions sessions(context.get_executor(), options);
    } catch (const error& failure) {
        BOOST_TEST(failure.kind() == errc::invalid_config);
        return failure.info().detail;
    }
    return "";
}

} // namespace

BOOST_AUTO_TEST_SUITE(redis_tls_test)

BOOST_AUTO_TEST_CASE(sessions_are_kept_by_tls_with_a_user_and_a_password) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const std::vector<std::string> user{"--user", "teller", "on", ">open sesame", "~skep:*", "+@all"};
        secure_server secure("no", user);
        auto options = secure.options();
        options.username = "teller";
        options.password = "open sesame";
        redis_service service(context, options);
        auto data = session_data().metadata("text", std::string(300'000, 'x'));
        co_await service.store.create("a", data);
        const auto before = connections_to(secure.server);
        for (int i = 0; i < 20; ++i) { // an idle connection is used again
            co_await service.store.update("a", count_up);
        }
        BOOST_TEST(connections_to(secure.server) == before + 1);
        const auto found = co_await service.store.get("a");
        BOOST_REQUIRE(found.has_value());
        BOOST_TEST(found->metadata().at("text").as_string().size() == 300'000u);
        BOOST_TEST(found->metadata().at("n").as_int64() == 20);
        secure.server.kill();
        const auto gone = co_await refusal_at(context, options);
        BOOST_TEST(contains(gone, "no connection to localhost:"), gone);
        secure.server.start();
        const auto empty = co_await service.store.get("a");
        BOOST_TEST(!empty.has_value());
        options.password = "guessed";
        const auto refused = co_await refusal_at(context, options);
        BOOST_TEST(contains(refused, "WRONGPASS"), refused);
        BOOST_TEST(!contains(refused, "guessed"));
        options.password = "open sesame";
        options.prefix = "others";
        const auto forbidden = co_await refusal_at(context, options);
        BOOST_TEST(contains(forbidden, "NOPERM: the user may not do that"), forbidden);
    });
}

BOOST_AUTO_TEST_CASE(a_server_must_show_a_certificate_of_its_name_by_a_trusted_authority) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        secure_server secure;
        auto options = secure.options();
        const std::string refused = "the server's certificate is not accepted: ";
        options.host = "127.0.0.1";
        const auto other_address = co_await refusal_at(context, options);
        BOOST_TEST(contains(other_address, refused + "IP address mismatch"), other_address);
        options.tls_server_name = "redis.internal";
        const auto other_name = co_await refusal_at(context, options);
        BOOST_TEST(contains(other_name, refused + "hostname mismatch"), other_name);
        options.tls_server_name = std::string("localhost\0.evil", 15);
        const auto no_name = co_await refusal_at(context, options);
        BOOST_TEST(contains(no_name, "no connection to 127.0.0.1:"), no_name);
        options.tls_server_name = "one.redis.test"; // which a wildcard covers
        redis_service service(context, options);
        co_await service.store.create("a");
        options = secure.options();
        options.tls_ca_file = ""; // the system's authorities do not know ours
        const auto unknown = co_await refusal_at(context, options);
        BOOST_TEST(contains(unknown, refused), unknown);
        const certificates others("redis.test");
        options.tls_ca_file = others.path("ca.pem");
        const auto by_others = co_await refusal_at(context, options);
        BOOST_TEST(contains(by_others, refused), by_others);
    });
}

BOOST_AUTO_TEST_CASE(a_server_that_asks_for_a_certificate_is_shown_one) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        secure_server secure("yes");
        auto options = secure.options();
        const auto refused = co_await refusal_at(context, options);
        BOOST_TEST(contains(refused, "find: "), refused);
        options.tls_certificate_file = secure.files.path("client.pem");
        options.tls_key_file = secure.files.path("client.key");
        redis_service service(context, options);
        co_await service.store.create("a");
    });
}

BOOST_AUTO_TEST_CASE(a_server_without_tls_is_not_told_the_password) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        redis_liar liar([](const std::string&) { return redis_liar::answer{"+OK\r\n"}; });
        auto options = liar.options();
        options.tls = true;
        options.password = "sesame";
        options.connect_timeout = 300ms; // it waits for a command, and the handshake for it
        const auto silent = co_await refusal_at(context, options);
        BOOST_TEST(contains(silent, "within 300 ms"), silent);
        BOOST_TEST(!liar.received().empty());
        BOOST_TEST(!contains(liar.received(), "sesame"));
        redis_process plain(false);
        options = plain.options();
        options.tls = true;
        options.password = "sesame";
        const auto foreign = co_await refusal_at(context, options);
        BOOST_TEST(contains(foreign, "no connection to 127.0.0.1:"), foreign);
    });
}

BOOST_AUTO_TEST_CASE(a_frozen_server_holds_nothing_up_by_tls) {
    secure_server secure;
    asio::io_context context(1);
    auto options = secure.options();
    options.operation_timeout = 10min;
    redis_service service(context, options);
    asio::cancellation_signal cancel;
    std::optional<error> failure;
    auto use = [&]() -> asio::awaitable<void> {
        co_await service.store.create("a");
        secure.server.freeze();
        failure = co_await failure_of(service.store.get("a"));
    };
    asio::co_spawn(context, use(),
                   asio::bind_cancellation_slot(cancel.slot(), [](const std::exception_ptr&) {}));
    context.run_for(300ms); // it waits for the reply, or has not come so far
    cancel.emit(asio::cancellation_type::terminal);
    context.run_for(1min);
    BOOST_TEST(context.stopped());
    secure.server.thaw();
}

BOOST_AUTO_TEST_CASE(options_of_tls_have_rules) {
    const certificates files("redis.test");
    const auto refusal = [](auto change) {
        redis_options options;
        options.tls = true;
        change(options);
        return refusal_of(options);
    };
    BOOST_TEST(refusal([](auto&) {}) == "");
    BOOST_TEST(refusal([&](auto& o) { o.tls_ca_file = files.path("ca.pem"); }) == "");
    BOOST_TEST(refusal([](auto& o) { o.unix_socket = "/run/redis"; }) ==
               "redis.unix_socket = \"/run/redis\": must be empty with tls");
    BOOST_TEST(refusal([](auto& o) { o.tls_key_file = "k"; }) ==
               "redis.tls_key_file = \"k\": needs a tls_certificate_file");
    BOOST_TEST(refusal([](auto& o) { o.tls_certificate_file = "c"; }) ==
               "redis.tls_certificate_file = \"c\": needs a tls_key_file");
    const auto missing = refusal([](auto& o) { o.tls_ca_file = "/nonexistent"; });
    BOOST_TEST(contains(missing, "redis.tls_ca_file = \"/nonexistent\": must be a file that can be used: "),
               missing);
    const auto no_certificate = refusal([&](auto& o) { o.tls_ca_file = files.path("ca.key"); });
    BOOST_TEST(contains(no_certificate, "redis.tls_ca_file"), no_certificate);
    const auto of_others = refusal([&](auto& o) {
        o.tls_certificate_file = files.path("client.pem");
        o.tls_key_file = files.path("server.key");
    });
    BOOST_TEST(contains(of_others, "redis.tls_key_file"), of_others);
    const auto without_tls = refusal([](auto& o) {
        o.tls = false;
        o.tls_ca_file = "ca.pem";
    });
    BOOST_TEST(without_tls == "redis.tls_ca_file = \"ca.pem\": needs tls");
}

BOOST_AUTO_TEST_CASE(a_url_says_where_the_server_is) {
    const auto plain = redis_options::from_url("redis://redis.internal");
    BOOST_TEST(
        (plain.host == "redis.internal" && plain.port == 6379u && !plain.tls && plain.password.empty()));
    const auto full = redis_options::from_url("rediss://te%6cler:p%40ss%2Fword@redis.internal:6380/12");
    BOOST_TEST((full.host == "redis.internal" && full.port == 6380u && full.tls && full.database == 12u));
    BOOST_TEST((full.username == "teller" && full.password == "p@ss/word"));
    const auto v6 = redis_options::from_url("rediss://:secret@[::1]:7000");
    BOOST_TEST((v6.host == "::1" && v6.port == 7000u && v6.username.empty() && v6.password == "secret"));
    BOOST_TEST((redis_options::from_url("redis://[fe80::1%25eth0]/").host == "fe80::1%25eth0"));
    for (const auto* wrong :
         {"", "redis:", "http://redis", "REDIS://host", "redis://host:port", "redis://host/x",
          "redis://host/1/2", "redis://host?db=1", "redis://secret@host", "redis://u:sec%zz@host",
          "redis://u:secret%4@host", "redis://u:sec/ret@host", "redis://u:sec#ret@host", "redis://[::1",
          "redis://[::1]7", "redis://host:-1", "redis://host:99999999999"}) {
        try {
            redis_options::from_url(wrong);
            BOOST_ERROR("accepted: " << wrong);
        } catch (const error& failure) {
            BOOST_TEST(failure.kind() == errc::invalid_config);
            BOOST_TEST(contains(failure.what(), "the URL of Redis: "), failure.what());
            BOOST_TEST(!contains(failure.what(), "sec"), failure.what());
        }
    }
    BOOST_TEST(refusal_of(redis_options::from_url("redis://:70000")) !=
               ""); // what has a range is checked there
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
