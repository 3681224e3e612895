// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_asker.hpp"
#include "support/visitor_of_bus.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(node_asker_test)

namespace {

/// A program in the place of a node.
struct patient_node final : bus_user {
    patient_node(const strand& executor, local_bus& server) : link(server.connect()(executor, *this)) {
        link->subscribe("skep.blue.admin.one");
    }

    void answer(const std::string& message) const { link->publish(reply, {}, {}, message); }

    void on_message(const bus_message& message) override {
        ++requests;
        reply = message.reply;
        body = message.body;
    }
    void on_connection(bool) override {}

    std::unique_ptr<bus> link;
    int requests = 0;
    std::string reply; ///< the subject for the answer
    std::string body;
};

struct asked_bus : visitor_of_bus<request_outcome> {
    /// Asks a node. `is_up`: the connection, at first.
    void begin(const std::string& name = "one", bool is_up = true) {
        request_plan plan;
        plan.domain = "blue";
        plan.node = name;
        plan.action = node_action::undrain;
        plan.inbox = "_INBOX.boss";
        plan.connect_limit = 2s;
        plan.answer_limit = 10s;
        visitor_of_bus::begin(is_up, [&](const strand& own, const bus_factory& connect) {
            return ask_node(own, plan, connect);
        });
    }

    patient_node node{executor, server};
};

} // namespace

BOOST_AUTO_TEST_CASE(a_node_answers) {
    asked_bus bus;
    bus.begin();
    BOOST_TEST(bus.node.body == R"({"v":1,"do":"undrain"})");
    BOOST_TEST(bus.node.reply.starts_with("_INBOX.boss."));
    bus.node.answer("no answer");
    bus.time.advance(1s);
    BOOST_TEST(!bus.found.has_value());
    bus.node.answer(R"({"v":1,"ok":true,"text":"done"})");
    bus.node.answer(R"({"v":1,"ok":false,"text":"too late"})");
    bus.time.run_until_idle();
    BOOST_TEST_REQUIRE(bus.found.has_value());
    BOOST_TEST(bus.found->is_connected);
    BOOST_TEST(!bus.found->is_missing);
    BOOST_TEST_REQUIRE(bus.found->answer.has_value());
    BOOST_TEST(bus.found->answer->is_done);
    BOOST_TEST(bus.found->answer->text == "done");
    BOOST_TEST(bus.server.connections() == 1u);
}

BOOST_AUTO_TEST_CASE(a_missing_node_is_known_at_once) {
    asked_bus bus;
    bus.begin("two");
    BOOST_TEST_REQUIRE(bus.found.has_value());
    BOOST_TEST(bus.found->is_connected);
    BOOST_TEST(bus.found->is_missing);
    BOOST_TEST(!bus.found->answer.has_value());
}

BOOST_AUTO_TEST_CASE(a_silent_node_is_waited_for_as_long_as_told) {
    asked_bus bus;
    bus.begin();
    bus.time.advance(9999ms);
    BOOST_TEST(!bus.found.has_value());
    bus.time.advance(1ms);
    BOOST_TEST_REQUIRE(bus.found.has_value());
    BOOST_TEST(bus.found->is_connected);
    BOOST_TEST(!bus.found->is_missing);
    BOOST_TEST(bus.found->problem == "");
    BOOST_TEST(!bus.found->answer.has_value());
}

BOOST_AUTO_TEST_CASE(a_refusal_of_the_bus_ends_the_wait) {
    asked_bus bus;
    bus.begin();
    bus.visitor->on_problem("no right");
    bus.visitor->on_problem("another problem");
    bus.time.run_until_idle();
    BOOST_TEST_REQUIRE(bus.found.has_value());
    BOOST_TEST(bus.found->problem == "no right");
}

BOOST_AUTO_TEST_CASE(a_lost_connection_ends_the_wait_and_nothing_is_asked_twice) {
    asked_bus bus;
    bus.begin();
    bus.server.set_up(false);
    bus.server.set_up(true);
    bus.time.run_until_idle();
    BOOST_TEST_REQUIRE(bus.found.has_value());
    BOOST_TEST(bus.found->problem == "the connection is lost");
    BOOST_TEST(bus.node.requests == 1);
}

BOOST_AUTO_TEST_CASE(a_connection_may_come_late) {
    asked_bus bus;
    bus.begin("one", false);
    bus.visitor->on_problem("refused");
    bus.time.advance(1s);
    BOOST_TEST(bus.node.requests == 0);
    bus.server.set_up(true);
    bus.time.run_until_idle();
    BOOST_TEST(bus.node.requests == 1);
    bus.node.answer(R"({"v":1,"ok":true})");
    bus.time.run_until_idle();
    BOOST_TEST_REQUIRE(bus.found.has_value());
    BOOST_TEST(bus.found->problem == "");
    BOOST_TEST(bus.found->answer.has_value());
}

BOOST_AUTO_TEST_CASE(without_a_connection_the_cause_is_known) {
    asked_bus bus;
    bus.begin("one", false);
    bus.visitor->on_problem("refused");
    bus.time.advance(2s);
    BOOST_TEST_REQUIRE(bus.found.has_value());
    BOOST_TEST(!bus.found->is_connected);
    BOOST_TEST(bus.found->problem == "refused");
    BOOST_TEST(bus.node.requests == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
