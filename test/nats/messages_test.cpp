// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Messages between programs, through a server.

#include "support/nats_server.hpp"

#include <algorithm>

namespace skep::test {

namespace {

/// The first life of the process in cnats starts the threads that remain.
struct threads_of_cnats_started {
    threads_of_cnats_started() {
        asio::io_context context(1);
        const nats_server server;
        nats_program program(context, server.options());
        auto use = [&]() -> asio::awaitable<void> {
            co_await program.work();
            co_await program.close();
        };
        asio::co_spawn(context, use(), [](const std::exception_ptr& problem) { BOOST_TEST(!problem); });
        context.run();
    }
};

BOOST_TEST_GLOBAL_FIXTURE(threads_of_cnats_started);

} // namespace

BOOST_AUTO_TEST_SUITE(nats_messages_test)

BOOST_AUTO_TEST_CASE(a_message_goes_to_the_subscriptions_that_fit) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        nats_program one(context, server.options());
        nats_program other(context, server.options());
        other.link().subscribe("a.*");
        other.link().subscribe("b");
        other.link().subscribe("b"); // again: still one
        BOOST_TEST(!one.link().is_up());
        one.publish("b", "before the connection");
        co_await other.work();
        co_await one.wait_until_up();
        for (const std::string subject : {"a", "a.1", "a.1.2", "b", "b.1", "c"}) {
            one.link().publish(subject, "d." + subject, "head of ", "body");
        }
        one.publish("b", "", "");
        co_await other.wait_for_messages(3);
        BOOST_TEST(other.messages.size() == 3u);
        BOOST_TEST(other.messages[0].subject == "a.1");
        BOOST_TEST(other.messages[0].reply == "d.a.1");
        BOOST_TEST(other.messages[0].body == "head of body");
        BOOST_TEST(!other.messages[0].has_no_receiver);
        BOOST_TEST(other.messages[1].subject == "b");
        BOOST_TEST(other.messages[2].reply == "");
        BOOST_TEST(other.messages[2].body == "");
        BOOST_TEST(one.messages.empty());
        other.link().unsubscribe("a.*");
        other.link().unsubscribe("unknown");
        other.messages.clear();
        co_await other.work(); // so the server has taken note
        one.publish("a.1");
        one.publish("b");
        co_await other.wait_for_messages(1);
        BOOST_TEST(other.messages[0].subject == "b");
        co_await one.close();
        co_await other.close();
    });
}

BOOST_AUTO_TEST_CASE(a_message_without_a_receiver_is_reported_to_its_reply_subject) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        nats_program program(context, server.options());
        program.link().subscribe("inbox.*");
        co_await program.wait_until_up();
        program.publish("nowhere", "lost", "inbox.1");
        co_await program.wait_for_messages(1);
        BOOST_TEST(program.messages[0].has_no_receiver);
        BOOST_TEST(program.messages[0].subject == "inbox.1");
        BOOST_TEST(program.messages[0].body == "");
        program.link().subscribe("somewhere"); // in the order of the calls
        program.publish("somewhere", "found", "inbox.2");
        co_await program.wait_for_messages(2);
        BOOST_TEST(!program.messages[1].has_no_receiver);
        BOOST_TEST(program.messages[1].subject == "somewhere");
        BOOST_TEST(program.messages[1].reply == "inbox.2");
        co_await program.close();
    });
}

BOOST_AUTO_TEST_CASE(a_subject_that_no_server_takes_does_not_end_the_connection) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        nats_program program(context, server.options());
        program.link().subscribe("data");
        co_await program.work();
        program.publish(std::string(5000, 'x'));
        program.publish("data", "", std::string(5000, 'x'));
        program.publish("data 0\r\nPUB other");
        program.publish("data", "", "a b");
        program.publish("");
        program.publish("data", "", std::string(1000, 'x'));
        co_await program.wait_for_messages(1);
        BOOST_TEST(program.messages[0].reply.size() == 1000u);
        BOOST_TEST(program.problems.empty());
        BOOST_TEST((program.changes == std::vector<bool>{true}));
        co_await program.close();
    });
}

BOOST_AUTO_TEST_CASE(messages_of_all_sizes_arrive_in_order) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        nats_program one(context, server.options());
        nats_program other(context, server.options());
        other.link().subscribe("data.*"); // two subscriptions, and one order
        other.link().subscribe("number.*");
        co_await other.work();
        co_await one.wait_until_up();
        BOOST_TEST(one.link().max_payload() == 1u << 20);
        for (std::size_t size = 1; size <= one.link().max_payload(); size *= 4) {
            const auto count = std::min<std::size_t>(100, (8u << 20) / size); // more may not wait
            for (std::size_t i = 0; i < count; ++i) {
                const auto letter = static_cast<char>(i % 10); // a byte of 0 as well
                one.publish((i % 2 == 0 ? "data." : "number.") + std::to_string(i),
                            std::string(size, letter));
            }
            co_await other.wait_for_messages(count);
            for (std::size_t i = 0; i < count; ++i) {
                const auto& message = other.messages[i];
                BOOST_TEST(message.subject.ends_with("." + std::to_string(i)));
                BOOST_TEST((message.body == std::string(size, static_cast<char>(i % 10))));
            }
            other.messages.clear();
        }
        co_await one.close();
        co_await other.close();
    });
}

BOOST_AUTO_TEST_CASE(messages_that_wait_are_sent_before_the_end) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        nats_program one(context, server.options());
        nats_program other(context, server.options());
        other.link().subscribe("data");
        co_await other.work();
        co_await one.wait_until_up();
        for (int i = 0; i < 1000; ++i) {
            one.publish("data", std::string(10'000, 'x'));
        }
        co_await one.close();
        co_await other.wait_for_messages(1000);
        co_await other.close();
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
