// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Several servers.

#include "support/nats_server.hpp"

#include <array>

namespace skep::test {

namespace {

/// Three servers that know each other.
struct cluster {
    cluster() {
        std::string routes;
        for (const auto port : ports) {
            routes +=
                (routes.empty() ? "" : ", ") + ("\"nats-route://127.0.0.1:" + std::to_string(port)) + "\"";
        }
        for (std::size_t i = 0; i < ports.size(); ++i) {
            servers[i] =
                std::make_unique<nats_server>("lame_duck_duration: 120s\nlame_duck_grace_period: "
                                              "100s\n" // so that it cuts nobody off itself
                                              "cluster { name: test, listen: \"127.0.0.1:" +
                                              std::to_string(ports[i]) + "\", routes: [ " + routes + "] }");
        }
    }

    const std::array<unsigned, 3> ports{server_process::free_port(), server_process::free_port(),
                                        server_process::free_port()};
    std::array<std::unique_ptr<nats_server>, 3> servers;
};

/// Waits until messages pass from one program to the other.
asio::awaitable<void> wait_for_way(nats_program& from, nats_program& to, std::string subject) {
    to.link().subscribe(subject);
    auto arrived = [&] {
        from.publish(subject);
        return !to.messages.empty();
    };
    const bool is = co_await eventually(arrived, 60s);
    BOOST_REQUIRE(is);
}

/// Waits until the program's server has announced the others: then a message of theirs has come to it.
asio::awaitable<void> wait_for_cluster(asio::io_context& context, const cluster& all, nats_program& program) {
    for (const auto& server : all.servers) {
        nats_program other(context, server->options());
        co_await other.wait_until_up();
        program.messages.clear();
        co_await wait_for_way(other, program, "way");
        co_await other.close();
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(nats_cluster_test)

BOOST_AUTO_TEST_CASE(a_program_finds_servers_that_it_was_not_told_of) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const cluster all;
        nats_program program(context, all.servers[0]->options());
        co_await program.wait_until_up();
        co_await wait_for_cluster(context, all, program);
        all.servers[0]->kill();
        co_await program.wait_for_connection(2);
        co_await program.work();
        nats_program other(context, all.servers[1]->options());
        co_await other.wait_until_up();
        program.messages.clear();
        co_await wait_for_way(other, program, "anew");
        co_await program.close();
        co_await other.close();
    });
}

BOOST_AUTO_TEST_CASE(a_server_in_lame_duck_mode_is_left) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const cluster all;
        nats_program program(context, all.servers[0]->options());
        co_await program.wait_until_up();
        co_await wait_for_cluster(context, all, program);
        all.servers[0]->begin_lame_duck();
        co_await program.wait_for_connection(2);
        BOOST_TEST(is_alive(all.servers[0]->pid()));
        co_await program.work();
        BOOST_TEST((program.changes == std::vector<bool>{true, false, true}));
        co_await program.close();
    });
}

BOOST_AUTO_TEST_CASE(the_only_server_is_not_left) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server("lame_duck_duration: 120s\nlame_duck_grace_period: 100s");
        nats_program program(context, server.options());
        co_await program.work();
        server.begin_lame_duck();
        auto is_known = [&] { return !server_process::listens(server.port()); };
        const bool is = co_await eventually(is_known, 60s);
        BOOST_TEST(is);
        co_await program.work();
        BOOST_TEST((program.changes == std::vector<bool>{true}));
        co_await program.close();
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
