// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The users of samples/node/nats.conf: each does its own task, and no other.

#include "process/local_context.hpp"
#include "remote/nats_connector.hpp"
#include "remote/node_asker.hpp"
#include "support/nats_node.hpp"
#include "support/nats_server.hpp"
#include <skep/remote_pool.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace skep::test {

namespace {

/// Returns the text of the sample. Sets the passwords that it asks for.
std::string sample_settings() {
    ::setenv("NODE_PASSWORD", "of-node", 1);
    ::setenv("SHOP_PASSWORD", "of-shop", 1);
    ::setenv("OPERATOR_PASSWORD", "of-operator", 1);
    std::ifstream file(SKEP_NATS_CONF);
    return {std::istreambuf_iterator<char>(file), {}};
}

using subjects = std::vector<std::string>;

class guarded_server : public nats_server {
public:
    guarded_server() : nats_server(sample_settings()) {}

    nats_options options_of(const std::string& user) const {
        auto result = options();
        result.user = user;
        result.password = "of-" + user;
        return result;
    }
};

remote_pool make_client_of(asio::io_context& context, nats_options nats) {
    remote_options options;
    options.nats = std::move(nats);
    options.queue.timeout = 1s;
    options.log_level = log_level::off;
    return remote_pool(context, std::move(options));
}

asio::awaitable<request_outcome> ask_first_node(asio::io_context& context, nats_options nats,
                                                std::string inbox, node_action action) {
    nats.inbox = std::move(inbox);
    request_plan plan;
    plan.node = "first";
    plan.action = action;
    plan.inbox = nats.inbox;
    plan.connect_limit = plan.answer_limit = 1min;
    const strand executor = make_local_context(context.get_executor()).executor;
    auto running = ask_node(executor, std::move(plan), connect_by_nats(nats));
    auto asking = asio::co_spawn(executor, std::move(running), asio::use_awaitable);
    auto outcome = co_await std::move(asking);
    co_return outcome;
}

/// The server refuses these subjects, and no other one of the program's.
asio::awaitable<void> expect_refusals(asio::io_context& context, nats_options options, subjects published,
                                      subjects subscribed) {
    nats_program program(context, options);
    co_await program.wait_until_up();
    for (const auto& subject : published) {
        program.publish(subject, "a message");
        auto refused = program.wait_for_problem("Permissions Violation for Publish to \"" + subject + "\"");
        co_await std::move(refused);
    }
    for (const auto& subject : subscribed) {
        program.link().subscribe(subject);
        auto refused =
            program.wait_for_problem("Permissions Violation for Subscription to \"" + subject + "\"");
        co_await std::move(refused);
    }
    BOOST_TEST(program.messages.empty());
    co_await program.close();
}

} // namespace

BOOST_AUTO_TEST_SUITE(nats_rights_test)

BOOST_AUTO_TEST_CASE(a_service_calls_a_node_and_an_operator_sees_it) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const guarded_server server;
        nats_node node(context, server.options_of("node"), "first", [](int) {});
        co_await node.start();
        auto nats = server.options_of("shop");
        nats.inbox = "_INBOX.shop";
        auto client = make_client_of(context, nats);
        co_await client.start();
        const auto answer = co_await client.execute(request("work").arg("number", 7).arg("ms", 0));
        BOOST_TEST(answer.as<int>() == 7);
        auto strict = request("work").session("user-1").affinity(affinity_mode::strict_queue);
        strict.arg("number", 8).arg("ms", 0);
        co_await client.execute(std::move(strict));
        nats_program colleague(context, nats);
        colleague.link().subscribe("_INBOX.shop.home.1");
        co_await colleague.wait_until_up();
        colleague.publish("skep.default.home", R"({"v":1,"pool":"default","session":"user-1"})",
                          "_INBOX.shop.home.1");
        co_await colleague.wait_for_messages(1);
        BOOST_TEST(contains(colleague.messages[0].body, R"({"v":1,"node":"first","epoch":")"));
        BOOST_TEST(colleague.problems.empty());
        co_await colleague.close();

        nats_program watcher(context, server.options_of("operator"));
        watcher.link().subscribe("_INBOX.operator.nodes");
        co_await watcher.wait_until_up();
        watcher.publish("skep.default.who", "", "_INBOX.operator.nodes");
        co_await watcher.wait_for_messages(1);
        BOOST_TEST(contains(watcher.messages[0].body, "\"node\":\"first\""));
        BOOST_TEST(watcher.problems.empty());
        co_await watcher.close();
        co_await client.shutdown();
        co_await node.stop();
    });
}

BOOST_AUTO_TEST_CASE(an_operator_drains_a_node_and_has_it_serve_again) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const guarded_server server;
        nats_node node(context, server.options_of("node"), "first", [](int) {});
        co_await node.start();
        for (const auto action : {node_action::drain, node_action::undrain, node_action::restart}) {
            auto asking = ask_first_node(context, server.options_of("operator"), "_INBOX.operator", action);
            const auto outcome = co_await std::move(asking);
            BOOST_TEST(outcome.problem == "");
            BOOST_TEST_REQUIRE(outcome.answer.has_value());
            BOOST_TEST(outcome.answer->is_done, outcome.answer->text);
            const auto status = co_await node.agent().status();
            BOOST_TEST(status.is_draining == (action == node_action::drain));
        }
        co_await node.agent().drain();
        auto asking =
            ask_first_node(context, server.options_of("operator"), "_INBOX.operator", node_action::undrain);
        const auto refusal = co_await std::move(asking);
        BOOST_TEST_REQUIRE(refusal.answer.has_value());
        BOOST_TEST(!refusal.answer->is_done);
        co_await node.agent().undrain();
        const auto status = co_await node.agent().status();
        BOOST_TEST(!status.is_draining);
        co_await node.stop();
    });
}

BOOST_AUTO_TEST_CASE(a_service_drains_no_node) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const guarded_server server;
        nats_node node(context, server.options_of("node"), "first", [](int) {});
        co_await node.start();
        auto asking = ask_first_node(context, server.options_of("shop"), "_INBOX.shop", node_action::drain);
        const auto outcome = co_await std::move(asking);
        BOOST_TEST(!outcome.answer.has_value());
        BOOST_TEST(
            contains(outcome.problem, "Permissions Violation for Publish to \"skep.default.admin.first\""));
        const auto status = co_await node.agent().status();
        BOOST_TEST(!status.is_draining);
        co_await node.stop();
    });
}

BOOST_AUTO_TEST_CASE(a_service_is_no_node_and_reads_no_answers_of_others) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const guarded_server server;
        const subjects published{"skep.default.load", "skep.default.admin.first", "skep.other.who",
                                 "_INBOX.shop.own", "_INBOX.other.link"};
        const subjects subscribed{"skep.default.who", "skep.default.home", "skep.default.node.*.*",
                                  "skep.>",           "_INBOX.other.*",    "_INBOX.>"};
        co_await expect_refusals(context, server.options_of("shop"), published, subscribed);
    });
}

BOOST_AUTO_TEST_CASE(a_node_does_not_call) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const guarded_server server;
        const auto options = server.options_of("node");
        const subjects published{"skep.default.who", "skep.default.home", "skep.default.admin.first",
                                 "skep.default.node.first.link"};
        const subjects subscribed{"skep.default.load", "_INBOX.shop.*", "_INBOX.>"};
        co_await expect_refusals(context, options, published, subscribed);
        auto client = make_client_of(context, options);
        try {
            co_await client.start();
            BOOST_ERROR("a node has found a node");
        } catch (const error& failure) {
            BOOST_TEST(contains(failure.what(), "Permissions Violation for Publish to \"skep.default.who\""));
        }
        co_await client.shutdown();
    });
}

BOOST_AUTO_TEST_CASE(an_operator_makes_no_calls_and_is_no_node) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const guarded_server server;
        const subjects published{"skep.default.load", "skep.default.home", "skep.default.node.first.link",
                                 "_INBOX.shop.link"};
        const subjects subscribed{"skep.default.who", "skep.default.home", "skep.default.admin.*",
                                  "skep.default.node.*.*", "_INBOX.shop.*"};
        co_await expect_refusals(context, server.options_of("operator"), published, subscribed);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
