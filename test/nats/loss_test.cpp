// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Servers that come late, die, stand still, or change their limits.

#include "support/nats_server.hpp"

namespace skep::test {

BOOST_AUTO_TEST_SUITE(nats_loss_test)

BOOST_AUTO_TEST_CASE(a_server_may_come_later_than_the_program) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        nats_server server("", false);
        nats_program program(context, server.options());
        program.link().subscribe("data");
        co_await program.wait_for_problem("nats://" + server.address() + ": ");
        BOOST_TEST(program.changes.empty());
        BOOST_TEST(program.link().max_payload() == bus::least_payload);
        server.start();
        co_await program.wait_until_up();
        program.publish("data");
        co_await program.wait_for_messages(1);
        BOOST_TEST((program.changes == std::vector<bool>{true}));
        BOOST_TEST(program.problems.size() == 1u); // however many attempts there were
        co_await program.close();
    });
}

BOOST_AUTO_TEST_CASE(subscriptions_outlive_the_server_and_messages_do_not) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        nats_server server;
        nats_program program(context, server.options());
        program.link().subscribe("data");
        program.link().subscribe("unwanted");
        co_await program.work();
        for (std::size_t round = 1; round <= 5; ++round) {
            server.kill();
            program.publish("data", "before the loss is known");
            co_await program.wait_until_down();
            program.publish("data", "while the connection is down");
            program.link().subscribe("more." + std::to_string(round));
            program.link().unsubscribe("unwanted");
            server.start();
            co_await program.wait_for_connection(round + 1);
            program.publish("unwanted");
            program.publish("data", "new");
            program.publish("more." + std::to_string(round), "new");
            co_await program.wait_for_messages(2);
            BOOST_TEST(program.messages[0].subject == "data");
            BOOST_TEST(program.messages[0].body == "new");
            BOOST_TEST(program.messages[1].body == "new");
            program.messages.clear();
        }
        for (std::size_t i = 0; i < program.changes.size(); ++i) {
            BOOST_TEST(program.changes[i] == (i % 2 == 0)); // up and down in turn
        }
        co_await program.close();
    });
}

BOOST_AUTO_TEST_CASE(a_short_halt_of_the_server_loses_nothing) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        auto options = server.options();
        options.connect_timeout = 1min;
        nats_program program(context, options);
        program.link().subscribe("data");
        co_await program.work();
        server.freeze();
        for (int i = 0; i < 10; ++i) {
            program.publish("data", std::to_string(i));
        }
        server.thaw();
        co_await program.wait_for_messages(10);
        BOOST_TEST(program.messages[9].body == "9");
        BOOST_TEST((program.changes == std::vector<bool>{true}));
        co_await program.close();
    });
}

BOOST_AUTO_TEST_CASE(a_server_that_stands_still_is_lost) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        auto options = server.options();
        options.ping_interval = 50ms;
        options.connect_timeout = 200ms;
        nats_program program(context, options);
        co_await program.work();
        server.freeze();
        co_await program.wait_until_down();
        co_await program.wait_for_problem("Stale Connection");
        co_await program.wait_for_problem("Timeout"); // of an attempt to connect
        server.thaw();
        co_await program.work();
        co_await program.close();
    });
}

BOOST_AUTO_TEST_CASE(a_server_that_takes_no_bytes_is_lost) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        auto options = server.options();
        options.ping_interval = 10min;
        options.connect_timeout = 200ms;
        nats_program program(context, options);
        co_await program.work();
        server.freeze();
        auto is_down = [&] {
            program.publish("data", std::string(1 << 20, 'x'));
            return !program.link().is_up();
        };
        const bool is = co_await eventually(is_down, 60s);
        BOOST_TEST(is);
        server.thaw();
        co_await program.work();
        co_await program.close();
    });
}

BOOST_AUTO_TEST_CASE(messages_beyond_the_send_buffer_are_lost_and_wait_for_nothing) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        auto options = server.options();
        options.send_buffer = 64 << 10;
        options.connect_timeout = 1min; // so the server is not lost
        options.ping_interval = 10min;
        nats_program program(context, options);
        program.link().subscribe("data.*");
        co_await program.work();
        program.publish("data.0");
        co_await program.wait_for_messages(1); // nothing waits any more
        server.freeze();
        constexpr std::size_t count = 1000;
        for (std::size_t i = 1; i < count; ++i) { // 100 MB, more than the kernel takes
            program.publish("data." + std::to_string(i), std::string(100'000, 'x'));
        }
        server.thaw();
        co_await program.work();                  // behind what was not lost
        BOOST_TEST(program.messages.size() > 1u); // one may always wait
        BOOST_TEST(program.messages.size() < count);
        std::size_t last = 0;
        for (const auto& message : program.messages) {
            const auto number = std::stoul(message.subject.substr(5));
            BOOST_TEST((number == 0 || number > last));
            last = number;
        }
        BOOST_TEST((program.changes == std::vector<bool>{true}));
        co_await program.close();
    });
}

BOOST_AUTO_TEST_CASE(the_largest_message_is_the_server_s_affair) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server("max_payload: 8192");
        nats_program program(context, server.options());
        program.link().subscribe("data");
        co_await program.work();
        BOOST_TEST(program.link().max_payload() == 8192u);
        program.publish("data", std::string(8192, 'x'));
        co_await program.wait_for_messages(1);
        program.messages.clear();
        server.reload("max_payload: 5000");
        auto is_changed = [&] { // the server refuses a message that was allowed, and tells its limit then
            program.publish("data", std::string(program.link().max_payload(), 'x'));
            return program.link().max_payload() == 5000;
        };
        const bool is = co_await eventually(is_changed, 60s);
        BOOST_TEST(is);
        BOOST_TEST(!program.problems.empty()); // the server's text may be lost with the connection
        co_await program.work();
        co_await program.close();
    });
}

BOOST_AUTO_TEST_CASE(a_server_with_a_small_limit_is_of_no_use) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server("max_payload: 4095");
        nats_program program(context, server.options());
        co_await program.wait_for_problem("max_payload of the server = 4095: must be 4096 or more");
        BOOST_TEST(!program.link().is_up());
        server.reload("max_payload: 4096");
        co_await program.wait_until_up();
        BOOST_TEST(program.link().max_payload() == 4096u);
        BOOST_TEST((program.changes == std::vector<bool>{true}));
        co_await program.close();
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
