// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/attacked_node.hpp"
#include "support/text.hpp"
#include "wire/node_request.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A node whose operator drains it, restarts its workers, and asks for what there is not.

namespace skep::test {

BOOST_AUTO_TEST_SUITE(node_operator_test)

using namespace node_attack;

namespace {

/// An operator of the node.
struct node_operator {
    explicit node_operator(attacked_node& node) : of(node), program(node.context, node.time, node.bus) {
        program.listen(inbox);
    }

    /// Sends a request, and returns the text of the answer; empty without one.
    std::string ask(const std::string& action, const std::string& reply = inbox) {
        return send(R"({"v":1,"do":")" + action + "\"}", reply);
    }
    std::string send(const std::string& message, const std::string& reply = inbox) {
        const auto before = program.heard().size();
        program.carrier().publish("skep.default.admin.node", reply, {}, message);
        of.time.advance(50ms);
        return program.heard().size() == before ? std::string() : program.heard().back().body;
    }

    static constexpr auto inbox = "_INBOX.boss.1";
    attacked_node& of;
    raw_program program;
};

std::string done(const std::string& text) {
    return R"({"v":1,"ok":true,"text":")" + text + "\"}";
}

std::string refused(const std::string& text) {
    return R"({"v":1,"ok":false,"text":")" + text + "\"}";
}

} // namespace

BOOST_AUTO_TEST_CASE(an_operator_drains_a_node_and_has_it_serve_again) {
    attacked_node of;
    node_operator boss(of);
    auto& link = of.open_and_welcome();
    of.send(link, call_text(1));
    BOOST_TEST(boss.ask("undrain") == done("the node does not drain"));
    BOOST_TEST(boss.ask("drain") == done("the node drains"));
    BOOST_TEST(boss.ask("drain") == done("the node drains already"));
    check_refused(of.open(), "the node drains");
    of.time.advance(1min); // longer than the drain timeout
    BOOST_TEST(of.running == 1);
    BOOST_TEST(of.agent->links() == 1u); // the other client has gone
    BOOST_TEST(of.agent->status().is_draining);
    BOOST_TEST(boss.ask("undrain") == done("the node serves again"));
    BOOST_TEST(!of.agent->status().is_draining);
    BOOST_TEST(of.open().is_accepted);
    BOOST_TEST(of.running == 1);
    of.send(link, cancel_of_first);
    of.check_service();
}

BOOST_AUTO_TEST_CASE(a_drain_outlives_the_connection) {
    attacked_node of;
    node_operator boss(of);
    boss.ask("drain");
    of.bus.set_up(false);
    of.time.advance(1s);
    of.bus.set_up(true);
    of.time.advance(10s);
    BOOST_TEST(of.agent->links() == 0u);
    BOOST_TEST(boss.ask("drain") == done("the node drains already"));
    boss.ask("undrain");
}

BOOST_AUTO_TEST_CASE(an_operator_does_not_end_the_drain_of_the_program) {
    attacked_node of;
    node_operator boss(of);
    of.run(of.agent->drain());
    BOOST_TEST(boss.ask("drain") == done("the node drains already"));
    BOOST_TEST(boss.ask("undrain") == refused("the node is drained by its program"));
    check_refused(of.open(), "the node drains");
    of.agent->undrain();
    BOOST_TEST(of.open().is_accepted);
}

BOOST_AUTO_TEST_CASE(a_drain_that_is_ended_is_waited_for_no_longer) {
    attacked_node of;
    auto& link = of.open_and_welcome();
    of.send(link, call_text(1));
    const auto before = of.time.now();
    asio::post(of.agent->executor(), [&] {
        asio::co_spawn(of.agent->executor(), sleep_for(2s),
                       [&](const std::exception_ptr&) { of.agent->undrain(); });
    });
    of.run(of.agent->drain());
    BOOST_TEST((of.time.now() - before >= 2s));
    BOOST_TEST((of.time.now() - before < 3s));
    BOOST_TEST(of.running == 1);
    of.send(link, cancel_of_first);
}

BOOST_AUTO_TEST_CASE(requests_of_operators_without_a_sense_are_ignored) {
    attacked_node of;
    node_operator boss(of);
    for (const std::string message : {"", "drain", "{}", R"({"v":2,"do":"drain"})", R"({"v":1,"do":7})"}) {
        BOOST_TEST(boss.send(message) == "");
    }
    BOOST_TEST(boss.ask("drain", "") == "");
    boss.program.listen("skep.default.load.x");
    BOOST_TEST(boss.ask("drain", "skep.default.load.x") == "");
    BOOST_TEST(!of.agent->status().is_draining);
    BOOST_TEST(boss.ask("da\\u0007nce") == refused("the node cannot da\\\\x07nce"));
}

BOOST_AUTO_TEST_CASE(an_operator_asks_ten_times_a_second_at_most) {
    attacked_node of;
    node_operator boss(of);
    for (int i = 0; i < 1000; ++i) {
        boss.program.carrier().publish("skep.default.admin.node", boss.inbox, {},
                                       R"({"v":1,"do":"undrain"})");
    }
    of.time.run_until_idle();
    BOOST_TEST(boss.program.heard().size() == 10u);
    BOOST_TEST(boss.ask("drain") == "");
    of.time.advance(1s);
    BOOST_TEST(boss.ask("undrain") == done("the node does not drain"));
}

BOOST_AUTO_TEST_CASE(an_operator_has_the_workers_replaced) {
    int restarts = 0;
    attacked_node of;
    of.stop();
    of.setup.pools.clear();
    const auto load = [] { return load_view{0, 0, 1, true}; };
    const auto restart = [&restarts]() -> asio::awaitable<void> {
        ++restarts;
        co_await sleep_for(10s);
        if (restarts == 2) {
            throw error(errc::restart_failed, {});
        }
    };
    of.setup.pools.emplace("default", served_pool(of.workers.pool(), load, 2, restart));
    of.start();
    node_operator boss(of);
    BOOST_TEST(boss.ask("restart") == "");
    BOOST_TEST(boss.ask("restart") == done("the workers are being replaced already"));
    of.check_service();
    of.time.advance(10s);
    BOOST_TEST(boss.program.heard().back().body == done("the workers are replaced"));
    BOOST_TEST(restarts == 1);
    boss.ask("restart");
    of.time.advance(10s);
    const auto answer = decode_action_outcome(boss.program.heard().back().body);
    BOOST_TEST_REQUIRE(answer.has_value());
    BOOST_TEST(!answer->is_done);
    BOOST_TEST(contains(answer->text, "pool default: "));
    boss.ask("restart");
    of.stop(); // while the workers are being replaced
    BOOST_TEST(restarts == 3);
    of.start();
}

BOOST_AUTO_TEST_CASE(requests_of_operators_are_recorded) {
    auto setup = small_limits();
    std::vector<std::string> lines;
    setup.records.log_level = log_level::warning;
    setup.records.log_handler = [&](const log_record& record) { lines.push_back(record.text); };
    attacked_node of(std::move(setup));
    of.stop();
    lines.clear();
    auto around = make_local_context(of.context.get_executor());
    around.events = std::make_shared<event_bus>();
    auto heard = around.events->subscribe<events::node_admin>();
    of.agent = std::make_shared<node_core>(around, of.setup, of.bus.connect());
    asio::post(of.agent->executor(), [agent = of.agent] { agent->start(); });
    node_operator boss(of);
    boss.ask("drain");
    boss.ask("undrain");
    BOOST_TEST_REQUIRE(lines.size() == 2u);
    BOOST_TEST(lines[0] == "_INBOX.boss asked for: drain; the node drains");
    const auto first = of.time.run(heard.next());
    BOOST_TEST_REQUIRE(first.has_value());
    BOOST_TEST((first->node == "node" && first->action == "drain" && first->asker == "_INBOX.boss"));
    BOOST_TEST(first->is_done);
    BOOST_TEST(first->outcome == "the node drains");
}

BOOST_AUTO_TEST_CASE(a_node_may_stop_at_any_moment_of_the_end_of_a_link) {
    attacked_node of;
    for (int steps = 0; steps < 40; ++steps) {
        auto& link = of.open_and_welcome();
        of.send(link, call_text(1));
        BOOST_TEST(of.running == 1);
        of.attacker->post(link, raw_frame(good_welcome));
        of.context.restart();
        for (int i = 0; i < steps; ++i) {
            of.context.poll_one();
        }
        of.stop();
        of.time.advance(100ms);
        BOOST_TEST(of.running == 0);
        of.start();
        of.check_service();
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
