// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/local_context.hpp"
#include "remote/node_survey.hpp"
#include "remote/subjects.hpp"
#include "support/local_bus.hpp"
#include <skep/testing.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
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

struct surveyed_bus {
    /// Begins a survey. `is_up`: the connection, at first.
    void begin(bool is_up = true) {
        survey_plan plan;
        plan.domain = "blue";
        plan.connect_limit = 2s;
        plan.listening = 300ms;
        const auto connect = [this, is_up](const strand& own, bus_user& user) {
            asker = &user;
            auto made = server.connect()(own, user);
            if (!is_up) {
                server.set_up(false);
            }
            return made;
        };
        asio::co_spawn(executor, survey_nodes(executor, plan, connect),
                       [this](const std::exception_ptr& problem, node_survey survey) {
                           BOOST_TEST((problem == nullptr));
                           found = std::move(survey);
                       });
        time.run_until_idle();
    }

    asio::io_context context;
    testing::virtual_time time{context};
    strand executor = make_local_context(context.get_executor()).executor;
    local_bus server;
    asked_node node{executor, server};
    bus_user* asker = nullptr;
    std::optional<node_survey> found;
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
    bus.asker->on_problem("refused");
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
    bus.asker->on_problem("refused");
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
