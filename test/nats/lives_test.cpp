// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The end of a connection, in each of its states. run() audits threads and descriptors.

#include "support/nats_server.hpp"
#include <skep/remote_pool.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <nats/nats.h>
#include <optional>

namespace skep::test {

namespace {

/// Destroys the program's connection within the call that tells the program of its `count`th event of the
/// kind: a member of nats_program.
template <class Events>
asio::awaitable<void> destroy_at(nats_program& program, Events nats_program::*kind, std::size_t count) {
    bool is_done = false;
    program.on_event = [&] {
        if (!is_done && (program.*kind).size() >= count) {
            is_done = true;
            program.destroy();
        }
    };
    auto done = [&] { return is_done; };
    const bool is = co_await eventually(done, 60s);
    BOOST_TEST(is);
}

/// A server that greets and asks for TLS, and then keeps silent.
class silent_server {
public:
    explicit silent_server(asio::io_context& context)
        : acceptor_(context, {asio::ip::address_v4::loopback(), 0}) {
        acceptor_.async_accept([this](boost::system::error_code failure, asio::ip::tcp::socket socket) {
            if (!failure) {
                socket_.emplace(std::move(socket));
                asio::write(
                    *socket_,
                    asio::buffer(std::string_view(
                        "INFO {\"server_id\":\"a\",\"tls_required\":true,\"max_payload\":1048576}\r\n")));
            }
        });
    }

    nats_options options() const {
        nats_options options;
        options.servers = {"tls://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port())};
        options.connect_timeout = 50ms;
        options.reconnect_wait = 5ms;
        return options;
    }

    void end() {
        acceptor_.close();
        socket_.reset();
    }

private:
    asio::ip::tcp::acceptor acceptor_;
    std::optional<asio::ip::tcp::socket> socket_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(nats_lives_test)

BOOST_AUTO_TEST_CASE(two_hundred_lives_leave_nothing) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        for (int i = 0; i < 200; ++i) {
            nats_program program(context, server.options());
            program.link().subscribe("data");
            co_await program.wait_until_up();
            program.publish("data", "x"); // cnats 3.4 leaks a message above 4 KiB that is cut off
            if (i % 2 == 0) {
                co_await program.wait_for_messages(1);
                co_await program.close();
                co_await program.close(); // again: at once
            }
        }
    });
}

BOOST_AUTO_TEST_CASE(it_may_end_before_it_is_connected) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        for (int i = 0; i < 50; ++i) {
            const nats_program program(context, server.options());
        }
        for (int i = 0; i < 50; ++i) {
            nats_program program(context, server.options());
            co_await program.close();
            BOOST_TEST(program.changes.empty());
        }
    });
}

BOOST_AUTO_TEST_CASE(it_may_end_while_it_tries_to_connect) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        nats_server server;
        auto options = server.options();
        options.connect_timeout = 100ms;
        server.freeze(); // it accepts, and does not greet
        for (int i = 0; i < 2; ++i) {
            const nats_program program(context, options);
            co_await pause(10ms);
        }
        nats_program patient(context, options);
        co_await patient.wait_for_problem("Timeout");
        co_await patient.close();
        server.kill(); // it refuses
        nats_program program(context, options);
        co_await destroy_at(program, &nats_program::problems, 1);
        const nats_program other(context, options);
        co_await pause(10ms);
    });
}

BOOST_AUTO_TEST_CASE(it_may_end_within_a_call_of_its_user) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        nats_server server;
        nats_program connected(context, server.options());
        co_await destroy_at(connected, &nats_program::changes, 1);
        nats_program receiver(context, server.options());
        receiver.link().subscribe("data");
        co_await receiver.wait_until_up();
        for (int i = 0; i < 100; ++i) {
            receiver.publish("data");
        }
        co_await destroy_at(receiver, &nats_program::messages, 3);
        nats_program loser(context, server.options());
        co_await loser.wait_until_up();
        server.kill();
        co_await destroy_at(loser, &nats_program::changes, 2);
        BOOST_TEST(receiver.messages.size() == 3u); // none after its end
    });
}

BOOST_AUTO_TEST_CASE(it_may_end_with_messages_for_a_server_that_stands_still) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        auto options = server.options();
        options.connect_timeout = 100ms;
        for (const bool is_orderly : {false, true}) {
            nats_program program(context, options);
            co_await program.wait_until_up();
            server.freeze();
            for (int i = 0; i < 20; ++i) {
                program.publish("data", std::string(1 << 20, 'x'));
            }
            if (is_orderly) {
                co_await program.close();
            }
            program.destroy();
            server.thaw();
        }
    });
}

BOOST_AUTO_TEST_CASE(it_may_end_while_messages_come) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        nats_program sender(context, server.options());
        co_await sender.wait_until_up();
        for (int i = 0; i < 20; ++i) {
            nats_program receiver(context, server.options());
            receiver.link().subscribe("data");
            co_await receiver.work();
            for (int count = 0; count < 1000; ++count) {
                sender.publish("data", std::string(1000, 'x'));
            }
            co_await destroy_at(receiver, &nats_program::messages, 1);
        }
        co_await sender.close();
    });
}

BOOST_AUTO_TEST_CASE(it_does_not_wait_for_a_handshake_without_end) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        silent_server server(context);
        const auto before = threads();
        nats_program program(context, server.options());
        co_await program.wait_for_problem(NATS_VERSION_NUMBER < 0x030b00 ? "stuck" : "Timeout");
        co_await program.close();
        server.end(); // and so the thread of the attempt
        auto is_over = [before] { return threads() == before; };
        const bool is = co_await eventually(is_over, 60s);
        BOOST_TEST(is);
    });
}

BOOST_AUTO_TEST_CASE(a_bus_that_has_ended_gives_the_context_no_work) {
    const nats_server server;
    asio::io_context context(1);
    nats_program program(context, server.options());
    auto use = [&]() -> asio::awaitable<void> {
        co_await program.wait_until_up();
        co_await program.close();
    };
    asio::co_spawn(context, use(), [](const std::exception_ptr& problem) { BOOST_TEST(!problem); });
    context.run_for(1min);
    BOOST_TEST(context.stopped());
    program.publish("data");
    program.link().subscribe("data");
    BOOST_TEST((program.changes == std::vector<bool>{true}));
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
    asio::io_context context(1);
    remote_options options;
    options.nats.servers = {"http://a"};
    BOOST_CHECK_THROW(remote_pool(context, options), error);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
