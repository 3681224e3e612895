// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What workers ask of the service.

#include "support/asking_pool.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

namespace json = boost::json;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(tools)

namespace {

constexpr auto every_type = asio::cancellation_type::all;

asio::awaitable<tool_reply> add(tool_call asked) {
    co_return tool_reply(asked.args.at("a").to_number<int>() + asked.args.at("b").to_number<int>());
}

} // namespace

BOOST_AUTO_TEST_CASE(a_worker_gets_what_the_tool_returns) {
    asking pool;
    pool.facade().register_tool("add", add);
    const auto outer = pool.execute(request("predict"));
    const auto id = pool.worker(0).take_call();
    pool.ask(id, 1, "add", {{"a", 1}, {"b", 2}});
    BOOST_TEST(pool.result() == json::value(3));
    BOOST_TEST(!outer->done);
    pool.ask(id, 2, "add", {{"a", 3}, {"b", 4}});
    BOOST_TEST(pool.result() == json::value(7));
    pool.worker(0).reply(id, "done");
    pool.run_until_idle();
    BOOST_TEST(outer->value->value == json::value("done"));
}

BOOST_AUTO_TEST_CASE(a_tool_knows_the_call_it_serves) {
    asking pool;
    tool_call seen;
    pool.facade().register_tool("look", [&](tool_call asked) -> asio::awaitable<tool_reply> {
        seen = std::move(asked);
        co_return tool_reply();
    });
    const auto deadline = clock::now() + 5s;
    pool.execute(request("predict").session("s").metadata("tenant", "x").deadline(deadline));
    const auto id = pool.worker(0).take_call();
    pool.ask(id, 1, "look", {{"key", "v"}});
    BOOST_TEST(seen.name == "look");
    BOOST_TEST(seen.args.at("key") == json::value("v"));
    BOOST_TEST(seen.command == "predict");
    BOOST_TEST(seen.session == "s");
    BOOST_TEST(seen.metadata.at("tenant") == json::value("x"));
    BOOST_TEST(seen.worker.slot == 0u);
    BOOST_TEST((seen.deadline == deadline));
    BOOST_TEST(seen.correlation_id.size() > 2u); // made, as the request has none
}

BOOST_AUTO_TEST_CASE(a_requests_own_tool_goes_before_the_pools) {
    asking pool;
    pool.facade().register_tool("add", add);
    auto mine = request("predict").tool(
        "add", [](tool_call) -> asio::awaitable<tool_reply> { co_return tool_reply("mine"); });
    const auto copy = mine;
    pool.execute(std::move(mine).tool("other", add));
    const auto id = pool.worker(0).take_call();
    pool.ask(id, 1, "add", {{"a", 1}, {"b", 2}});
    BOOST_TEST(pool.result() == json::value("mine"));
    pool.ask(id, 2, "other", {{"a", 1}, {"b", 2}});
    BOOST_TEST(pool.result() == json::value(3));
    pool.worker(0).reply(id);
    pool.execute(copy);
    pool.ask(pool.worker(0).take_call(), 3, "other");
    BOOST_TEST(pool.failure().at("type") == json::value("skep.UnknownTool")); // the copy was made before
}

BOOST_AUTO_TEST_CASE(what_a_tool_throws_goes_to_the_worker) {
    asking pool;
    pool.facade().register_tool("refuse", [](tool_call) -> asio::awaitable<tool_reply> {
        throw tool_error("no_such_user", "who is that?", json::value{{"id", 7}});
        co_return tool_reply();
    });
    pool.facade().register_tool("break", [](tool_call) -> asio::awaitable<tool_reply> {
        throw std::runtime_error("broken");
        co_return tool_reply();
    });
    pool.execute(request("predict"));
    const auto id = pool.worker(0).take_call();
    pool.ask(id, 1, "refuse");
    const auto refused = pool.failure();
    BOOST_TEST(refused.at("message") == json::value("who is that?"));
    BOOST_TEST(refused.at("code") == json::value("no_such_user"));
    BOOST_TEST(refused.at("data") == json::value({{"id", 7}}));
    pool.ask(id, 2, "break");
    const auto broken = pool.failure();
    BOOST_TEST(broken.at("type") == json::value("std::runtime_error"));
    BOOST_TEST(broken.at("message") == json::value("broken"));
    BOOST_TEST(!broken.contains("code"));
}

BOOST_AUTO_TEST_CASE(an_answer_that_cannot_be_sent_is_an_error) {
    auto config = fake_config(1);
    config.limits.frame_bytes = config.limits.json_bytes = 2000;
    asking pool(config);
    pool.facade().register_tool("large", [](tool_call) -> asio::awaitable<tool_reply> {
        co_return tool_reply(std::string(3000, 'x'));
    });
    pool.facade().register_tool(
        "text", [](tool_call) -> asio::awaitable<tool_reply> { co_return tool_reply(std::string("\xff")); });
    pool.execute(request("predict"));
    const auto id = pool.worker(0).take_call();
    pool.ask(id, 1, "large");
    check_mentions(json::value_to<std::string>(pool.failure().at("message")), "limits.json_bytes");
    pool.ask(id, 2, "text");
    check_mentions(json::value_to<std::string>(pool.failure().at("message")), "UTF-8");
}

BOOST_AUTO_TEST_CASE(names_have_a_rule_and_are_taken_once) {
    asking pool;
    pool.facade().register_tool("add", add);
    const auto is_invalid = [](const error& refusal) { return refusal.kind() == errc::invalid_config; };
    BOOST_CHECK_EXCEPTION(pool.facade().register_tool("add", add), error, is_invalid);
    BOOST_CHECK_EXCEPTION(pool.facade().register_tool("a b", add), error, is_invalid);
    BOOST_CHECK_EXCEPTION(pool.facade().register_tool("", add), error, is_invalid);
    BOOST_CHECK_EXCEPTION(pool.facade().register_tool("empty", {}), error, is_invalid);
    BOOST_CHECK_THROW(request("x").tool("a b", add), error);
}

BOOST_AUTO_TEST_CASE(a_call_that_is_cancelled_cancels_its_tools) {
    bool was_cancelled = false;
    asking pool;
    pool.facade().register_tool("wait", patient(was_cancelled));
    const auto outer = pool.execute(request("predict"));
    const auto id = pool.worker(0).take_call();
    pool.ask(id, 1, "wait");
    BOOST_TEST(!was_cancelled);
    outer->cancel.emit(every_type);
    pool.run_until_idle();
    BOOST_TEST(was_cancelled);
    BOOST_TEST(pool.failure().at("type") == json::value("skep.Cancelled"));
    pool.ask(id, 2, "wait"); // it has not noticed yet
    BOOST_TEST(pool.failure().at("type") == json::value("skep.Cancelled"));
}

BOOST_AUTO_TEST_CASE(the_deadline_of_the_call_is_the_tools) {
    bool was_cancelled = false;
    asking pool;
    pool.facade().register_tool("wait", patient(was_cancelled));
    const auto outer = pool.execute(request("predict").timeout(1s));
    pool.ask(pool.worker(0).take_call(), 1, "wait");
    pool.advance(1100ms);
    BOOST_TEST(outer->code() == errc::timeout);
    BOOST_TEST(was_cancelled);
}

BOOST_AUTO_TEST_CASE(a_call_that_is_answered_leaves_no_tool) {
    bool was_cancelled = false;
    asking pool;
    pool.facade().register_tool("wait", patient(was_cancelled));
    const auto outer = pool.execute(request("predict"));
    const auto id = pool.worker(0).take_call();
    pool.ask(id, 1, "wait");
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(outer->done);
    BOOST_TEST(was_cancelled);
    BOOST_TEST(!pool.is_answered());
}

BOOST_AUTO_TEST_CASE(a_worker_that_dies_leaves_no_tool) {
    bool was_cancelled = false;
    asking pool;
    pool.facade().register_tool("wait", patient(was_cancelled));
    const auto outer = pool.execute(request("predict"));
    pool.ask(pool.worker(0).take_call(), 1, "wait");
    pool.worker(0).exit(exit_status::signalled(SIGSEGV));
    pool.advance(500ms);
    BOOST_TEST(outer->code() == errc::worker_lost);
    BOOST_TEST(was_cancelled);
}

BOOST_AUTO_TEST_CASE(rules_that_a_worker_must_keep) {
    const auto is_ended_for = [](auto misbehave) {
        bool was_cancelled = false;
        asking pool;
        pool.facade().register_tool("add", add);
        pool.facade().register_tool("wait", patient(was_cancelled));
        const auto outer = pool.execute(request("predict"));
        misbehave(pool, pool.worker(0).take_call());
        pool.advance(500ms);
        return outer->code() == errc::worker_lost && pool.launched() == 2;
    };
    BOOST_TEST(is_ended_for([](asking& pool, std::uint64_t id) { pool.ask(id + 1, 1, "add"); }));
    BOOST_TEST(is_ended_for([](asking& pool, std::uint64_t id) {
        pool.ask(id, 5, "wait");
        pool.ask(id, 5, "wait");
    }));
    BOOST_TEST(is_ended_for([](asking& pool, std::uint64_t id) {
        for (std::uint64_t number = 1; number <= 17; ++number) {
            pool.ask(id, number, "wait");
        }
    }));
    BOOST_TEST(is_ended_for([](asking& pool, std::uint64_t id) { pool.report(id + 1, 0.5, ""); }));
    BOOST_TEST(is_ended_for([](asking& pool, std::uint64_t id) { pool.report(id, 1.5, ""); }));
    BOOST_TEST(!is_ended_for([](asking& pool, std::uint64_t id) {
        for (std::uint64_t number = 1; number <= 16; ++number) {
            pool.ask(id, number, "wait");
        }
    }));
}

BOOST_AUTO_TEST_CASE(a_tool_calls_back_into_its_pool) {
    asking pool(fake_config(2));
    pool.facade().register_tool("nested", calling(pool, "inner"));
    const auto outer = pool.execute(request("outer").correlation_id("abc").timeout(5s));
    const auto id = pool.worker(0).take_call();
    pool.ask(id, 1, "nested");
    const auto inner = pool.worker(1).take_calls();
    BOOST_REQUIRE(inner.size() == 1u);
    BOOST_TEST(inner[0].at("correlation_id") == json::value("abc"));
    BOOST_TEST(inner[0].at("deadline_ms").to_number<int>() <= 5000);
    pool.worker(1).reply(id_of(inner[0]), 42);
    pool.run_until_idle();
    BOOST_TEST(pool.result() == json::value(42));
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(outer->done);
}

BOOST_AUTO_TEST_CASE(a_call_that_only_its_own_callers_could_make_room_for_is_refused) {
    asking pool;
    pool.facade().register_tool("nested", calling(pool, "inner"));
    const auto outer = pool.execute(request("outer"));
    const auto id = pool.worker(0).take_call();
    pool.ask(id, 1, "nested");
    const auto failure = pool.failure();
    check_mentions(json::value_to<std::string>(failure.at("message")), "outer -> tool nested -> inner");
    pool.worker(0).reply(id, "all the same");
    pool.run_until_idle();
    BOOST_TEST(outer->value->value == json::value("all the same"));
}

BOOST_AUTO_TEST_CASE(the_last_of_several_that_closes_the_circle_is_refused) {
    asking pool(fake_config(2));
    pool.facade().register_tool("nested", calling(pool, "inner"));
    pool.execute(request("outer"));
    pool.execute(request("outer"));
    const auto first = pool.worker(0).take_call();
    const auto second = pool.worker(1).take_call();
    pool.ask(first, 1, "nested", {}, 0); // it may wait: the other worker may become free
    BOOST_TEST(!pool.is_answered(0));
    BOOST_TEST(pool.status().queued == 1u);
    pool.ask(second, 1, "nested", {}, 1);
    check_mentions(json::value_to<std::string>(pool.failure(1).at("message")), "outer -> tool nested");
    pool.worker(1).reply(second);
    pool.run_until_idle();
    pool.worker(1).answer_call("found a place");
    pool.run_until_idle();
    BOOST_TEST(pool.result(0) == json::value("found a place"));
}

BOOST_AUTO_TEST_CASE(a_tools_call_is_not_pipelined_behind_its_own) {
    auto config = fake_config(2);
    config.pipeline_depth = 4;
    asking pool(config);
    pool.facade().register_tool("nested", calling(pool, "inner"));
    pool.execute(request("outer"));
    const auto other = pool.execute(request("other"));
    const auto first = pool.worker(0).take_call();
    const auto second = pool.worker(1).take_call();
    pool.ask(first, 1, "nested");
    BOOST_TEST(pool.worker(0).take_calls().empty());
    BOOST_TEST(pool.worker(1).take_calls().empty());
    pool.worker(1).reply(second);
    pool.run_until_idle();
    BOOST_TEST(other->done);
    pool.worker(1).answer_call(1);
    pool.run_until_idle();
    BOOST_TEST(pool.result() == json::value(1));
}

BOOST_AUTO_TEST_CASE(nothing_is_pipelined_past_a_tools_call_that_waits) {
    auto config = fake_config(1);
    config.capacity = 2;
    config.pipeline_depth = 4;
    asking pool(config);
    pool.facade().register_tool("nested", calling(pool, "inner"));
    pool.execute(request("outer"));
    pool.execute(request("other"));
    const auto calls = pool.worker(0).take_calls();
    BOOST_REQUIRE(calls.size() == 2u);
    pool.ask(id_of(calls[0]), 1, "nested");
    pool.execute(request("late"));
    BOOST_TEST(pool.status().queued == 2u);
    pool.worker(0).reply(id_of(calls[1]));
    pool.run_until_idle();
    const auto sent = pool.worker(0).take_calls();
    BOOST_REQUIRE(sent.size() == 2u);
    BOOST_TEST(sent[0].at("command") == json::value("inner"));
    BOOST_TEST(sent[1].at("command") == json::value("late"));
}

BOOST_AUTO_TEST_CASE(a_tools_call_that_gives_up_lets_others_be_pipelined) {
    auto config = fake_config(2);
    config.pipeline_depth = 4;
    config.queue.timeout = 1s;
    asking pool(config);
    pool.facade().register_tool("nested", calling(pool, "inner"));
    pool.execute(request("outer"));
    pool.execute(request("other"));
    pool.ask(pool.worker(0).take_call(), 1, "nested");
    pool.worker(1).take_call();
    pool.execute(request("late").queue_timeout(1h));
    BOOST_TEST(pool.status().queued == 2u);
    pool.advance(1s);
    BOOST_TEST(pool.is_answered()); // without its result
    BOOST_TEST(pool.status().queued == 0u);
}

BOOST_AUTO_TEST_CASE(a_call_that_is_drained_may_go_on_calling) {
    asking pool(fake_config(2));
    pool.facade().register_tool("nested", calling(pool, "inner"));
    const auto outer = pool.execute(request("outer"));
    const auto id = pool.worker(0).take_call();
    const auto ending = pool.shutdown();
    BOOST_TEST(pool.execute(request("fresh"))->code() == errc::shutting_down);
    pool.ask(id, 1, "nested");
    pool.worker(1).answer_call(5);
    pool.run_until_idle();
    BOOST_TEST(pool.result() == json::value(5));
    pool.worker(0).reply(id, "done");
    pool.run_until_idle();
    BOOST_TEST(outer->value->value == json::value("done"));
    BOOST_TEST(!ending->done); // the workers are asked to stop
}

BOOST_AUTO_TEST_CASE(a_stream_that_waits_for_a_tool_is_not_quiet) {
    bool was_cancelled = false;
    asking pool;
    pool.facade().register_tool("wait", patient(was_cancelled));
    const auto opened = pool.stream(request("tokens").idle_timeout(1s));
    const auto id = pool.worker(0).take_call();
    const auto waiting = pool.next(*opened->value);
    pool.ask(id, 1, "wait");
    pool.advance(5s);
    BOOST_TEST(!waiting->done);
    BOOST_TEST(!was_cancelled);
    waiting->cancel.emit(every_type);
    pool.run_until_idle();
    BOOST_TEST(waiting->done); // a stream must outlive the wait for its next chunk
}

BOOST_AUTO_TEST_CASE(a_stream_has_its_time_again_once_its_tool_has_answered) {
    asking pool;
    pool.facade().register_tool("pause", [](tool_call) -> asio::awaitable<tool_reply> {
        const auto executor = co_await asio::this_coro::executor;
        asio::basic_waitable_timer<skep::clock> timer(executor, 900ms);
        co_await timer.async_wait(asio::use_awaitable);
        co_return tool_reply();
    });
    const auto opened = pool.stream(request("tokens").idle_timeout(1s));
    const auto waiting = pool.next(*opened->value);
    pool.ask(pool.worker(0).take_call(), 1, "pause");
    pool.advance(1500ms);
    BOOST_TEST(pool.is_answered());
    BOOST_TEST(!waiting->done);
    pool.advance(1s);
    BOOST_TEST(waiting->code() == errc::timeout);
}

BOOST_AUTO_TEST_CASE(a_successor_that_starts_may_make_room) {
    asking pool;
    pool.facade().register_tool("nested", calling(pool, "inner"));
    pool.execute(request("outer"));
    const auto id = pool.worker(0).take_call();
    pool.runtime().on_start = [](fake_worker&) {}; // it takes its time
    const auto restarting = pool.begin(pool.facade().restart(pool.status().workers.at(0).id));
    pool.ask(id, 1, "nested");
    BOOST_TEST(!pool.is_answered());
    pool.worker(1).shake_hands();
    pool.run_until_idle();
    pool.worker(1).answer_call(8);
    pool.run_until_idle();
    BOOST_TEST(pool.result() == json::value(8));
    pool.worker(0).reply(id);
    pool.run_until_idle();
}

BOOST_AUTO_TEST_CASE(a_successor_that_does_not_come_makes_no_room) {
    asking pool;
    pool.facade().register_tool("nested", calling(pool, "inner"));
    pool.execute(request("outer"));
    const auto id = pool.worker(0).take_call();
    pool.runtime().on_start = [](fake_worker&) {};
    const auto restarting = pool.begin(pool.facade().restart(pool.status().workers.at(0).id));
    pool.ask(id, 1, "nested");
    BOOST_TEST(!pool.is_answered());
    pool.worker(1).exit(exit_status::exited(1));
    pool.run_until_idle();
    check_mentions(json::value_to<std::string>(pool.failure().at("message")),
                   "outer -> tool nested -> inner");
    pool.worker(0).reply(id);
    pool.run_until_idle();
}

BOOST_AUTO_TEST_CASE(a_worker_that_reads_no_answers_gets_no_more) {
    auto config = fake_config(1);
    config.cancel_grace = 1h;
    asking pool(config);
    const auto outer = pool.execute(request("predict"));
    const auto id = pool.worker(0).take_call();
    outer->cancel.emit(every_type);
    pool.run_until_idle();
    for (std::uint64_t number = 1; number <= 100; ++number) { // all of them refused, and read
        pool.ask(id, number, "x");
        BOOST_TEST(pool.is_answered());
    }
    BOOST_TEST(pool.launched() == 1u);
}

BOOST_AUTO_TEST_CASE(every_call_has_a_correlation_id) {
    asking pool;
    const auto welcome = pool.worker(0).take_controls("welcome");
    BOOST_REQUIRE(welcome.size() == 1u);
    const auto prefix = json::value_to<std::string>(welcome[0].at("correlation"));
    const auto made = pool.execute(request("x"));
    const auto id = pool.worker(0).take_call();
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(made->value->correlation_id == prefix + std::to_string(id));
    const auto failed = pool.execute(request("x"));
    const auto next = pool.worker(0).take_call();
    pool.worker(0).fail(next, "ValueError", "no");
    pool.run_until_idle();
    BOOST_TEST(failed->info().correlation_id == prefix + std::to_string(next));
    const auto given = pool.execute(request("x").correlation_id("mine").timeout(1s));
    pool.advance(1500ms);
    BOOST_TEST(given->info().correlation_id == "mine");
}

BOOST_AUTO_TEST_CASE(a_call_that_would_wait_for_a_place_of_its_own_lease_is_refused) {
    asking pool;
    const auto held = pool.checkout();
    BOOST_REQUIRE(held->value.has_value());
    std::optional<error> refusal;
    auto handler = [&](tool_call) -> asio::awaitable<tool_reply> {
        try {
            auto inner = held->value->execute(request("inner"));
            co_await std::move(inner);
        } catch (const error& failure) {
            refusal = failure;
        }
        co_return tool_reply();
    };
    pool.facade().register_tool("tool", handler);
    const auto outer = pool.execute(*held->value, request("outer"));
    const auto id = pool.worker(0).take_call();
    pool.ask(id, 1, "tool");
    BOOST_REQUIRE(refusal.has_value());
    BOOST_TEST(refusal->kind() == errc::tool_cycle);
    check_mentions(refusal->what(), "outer -> tool tool -> inner");
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(outer->value.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
