// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_survey.hpp"
#include "remote/subjects.hpp"
#include "support/visitor_of_bus.hpp"

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(node_survey_test)

namespace {

/// A program that hears the question, and may answer.
struct asked_node final : bus_user {
    asked_node(const strand& executor, local_bus& server) : link(server.connect()(executor, *this)) {
        link->subscribe(who_subject("blue"));
    }

    void publish(const std::string& subject, const std::string& name, const std::string& epoch) const {
        node_beacon beacon;
        beacon.node = name;
        beacon.epoch = epoch;
        beacon.interval = 1s;
        beacon.pools.emplace("default", load_view{1, 2, 4, true});
        link->publish(subject, {}, {}, encode_beacon(beacon));
    }

    void on_message(const bus_message& message) override {
        ++questions;
        reply = message.reply;
    }
    void on_connection(bool) override {}

    std::unique_ptr<bus> link;
    int questions = 0;
    std::string reply; ///< the subject for the answer
};

struct surveyed_bus : visitor_of_bus<node_survey> {
    /// Begins a survey. `is_up`: the connection, at first.
    void begin(bool is_up = true) {
        survey_plan plan;
        plan.domain = "blue";
        plan.connect_limit = 2s;
        plan.listening = 300ms;
        visitor_of_bus::begin(is_up, [&](const strand& own, const bus_factory& connect) {
            return survey_nodes(own, plan, connect);
        });
    }

    asked_node node{executor, server};
};

} // namespace

BOOST_AUTO_TEST_CASE(nodes_answer_or_announce_themselves) {
    surveyed_bus bus;
    bus.begin();
    BOOST_TEST(bus.node.reply.starts_with("_INBOX."));
    bus.time.advance(20ms);
    bus.node.publish(bus.node.reply, "b", "1");
    bus.node.publish(load_subject("blue"), "a", "1");
    bus.node.publish(load_subject("green"), "c", "1");
    bus.node.link->publish(bus.node.reply, {}, {}, "no beacon");
    bus.time.advance(20ms);
    bus.node.publish(bus.node.reply, "b", "1");
    bus.node.publish(bus.node.reply, "a", "2");
    bus.time.advance(259ms);
    BOOST_TEST(!bus.found.has_value());
    bus.time.advance(1ms);
    BOOST_TEST_REQUIRE(bus.found.has_value());
    BOOST_TEST(bus.found->is_connected);
    const auto& nodes = bus.found->nodes;
    BOOST_TEST_REQUIRE(nodes.size() == 3u);
    BOOST_TEST((nodes[0].beacon.node == "a" && nodes[0].beacon.epoch == "1" && !nodes[0].round_trip));
    BOOST_TEST((nodes[1].beacon.epoch == "2" && nodes[1].round_trip == duration(40ms)));
    BOOST_TEST((nodes[2].beacon.node == "b" && nodes[2].round_trip == duration(20ms)));
    BOOST_TEST(nodes[2].beacon.pools.at("default").places == 4u);
    BOOST_TEST(bus.server.connections() == 1u);
}

BOOST_AUTO_TEST_CASE(a_connection_may_come_late) {
    surveyed_bus bus;
    bus.begin(false);
    bus.visitor->on_problem("refused");
    bus.time.advance(1s);
    BOOST_TEST(bus.node.questions == 0);
    bus.server.set_up(true);
    bus.time.run_until_idle();
    BOOST_TEST(bus.node.questions == 1);
    bus.node.publish(bus.node.reply, "a", "1");
    bus.time.advance(300ms);
    BOOST_TEST_REQUIRE(bus.found.has_value());
    BOOST_TEST(bus.found->is_connected);
    BOOST_TEST(bus.found->problem == "");
    BOOST_TEST(bus.found->nodes.size() == 1u);
}

BOOST_AUTO_TEST_CASE(without_a_connection_the_cause_is_known) {
    surveyed_bus bus;
    bus.begin(false);
    bus.visitor->on_problem("refused");
    bus.time.advance(1999ms);
    BOOST_TEST(!bus.found.has_value());
    bus.time.advance(1ms);
    BOOST_TEST_REQUIRE(bus.found.has_value());
    BOOST_TEST(!bus.found->is_connected);
    BOOST_TEST(bus.found->problem == "refused");
    BOOST_TEST(bus.server.connections() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
