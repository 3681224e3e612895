// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(recall)

namespace {

using ids = std::vector<std::uint64_t>;

ids ids_of(const std::vector<boost::json::object>& messages) {
    ids result;
    for (const auto& each : messages) {
        result.push_back(id_of(each));
    }
    return result;
}

/// A pool whose workers give calls back, and run as many calls at a time as configured. Calls of "short" are
/// known to be short.
class recalling_pool : public manual_pool {
public:
    explicit recalling_pool(pool_config config = fake_config(), bool gives_back = true)
        : manual_pool(std::move(config)) {
        runtime().on_start = [gives_back](fake_worker& fresh) {
            fresh.gives_back = gives_back;
            fresh.shake_hands();
        };
        const auto started = start();
        BOOST_REQUIRE(started->value);
        execute(request("short"));
        serve();
    }

    ids taken(std::size_t index = 0) { return ids_of(worker(index).take_calls()); }
    ids recalled(std::size_t index = 0) { return ids_of(worker(index).take_controls("recall")); }

    void reply(std::uint64_t id, std::size_t index = 0) {
        worker(index).reply(id);
        run_until_idle();
    }
    void give_back(std::uint64_t id, std::size_t index = 0) {
        worker(index).give_back(id);
        run_until_idle();
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(calls_lie_behind_short_ones_only) {
    recalling_pool pool;
    for (int i = 0; i < 7; ++i) {
        pool.execute(request("short"));
    }
    BOOST_TEST(pool.taken() == (ids{2, 3, 4, 5, 6}), boost::test_tools::per_element());
    BOOST_TEST(pool.status().queued == 2u);
    pool.reply(2);
    BOOST_TEST(pool.taken() == ids{7}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(nothing_lies_behind_an_unknown_call) {
    recalling_pool pool;
    pool.execute(request("unknown"));
    pool.execute(request("short"));
    BOOST_TEST(pool.taken() == ids{2}, boost::test_tools::per_element());
    pool.reply(2);
    pool.execute(request("other"));
    pool.execute(request("short"));
    BOOST_TEST(pool.taken() == (ids{3, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_command_that_took_long_is_not_short) {
    recalling_pool pool;
    pool.execute(request("long"));
    BOOST_TEST(pool.taken() == ids{2}, boost::test_tools::per_element());
    pool.advance(10ms);
    pool.reply(2);
    pool.execute(request("long"));
    pool.execute(request("short"));
    BOOST_TEST(pool.taken() == ids{3}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(nothing_lies_behind_a_stream) {
    recalling_pool pool;
    pool.stream(request("short"));
    pool.execute(request("short"));
    BOOST_TEST(pool.taken() == ids{2}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_worker_that_gives_no_calls_back_gets_none_ahead) {
    recalling_pool pool(fake_config(), false);
    pool.execute(request("short"));
    pool.execute(request("short"));
    BOOST_TEST(pool.taken() == ids{2}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_call_of_a_session_is_not_sent_ahead) {
    recalling_pool pool;
    pool.execute(request("short"));
    pool.execute(request("short").session("s"));
    pool.execute(request("short"));
    BOOST_TEST(pool.taken() == ids{2}, boost::test_tools::per_element());
    pool.reply(2);
    BOOST_TEST(pool.taken() == (ids{3, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(calls_behind_one_that_takes_long_are_recalled_and_sent_again) {
    recalling_pool pool(fake_config(2));
    pool.execute(request("unknown"));
    const auto first = pool.execute(request("short"));
    const auto second = pool.execute(request("short"));
    const auto third = pool.execute(request("short"));
    BOOST_TEST(pool.taken(1) == ids{1}, boost::test_tools::per_element());
    BOOST_TEST(pool.taken(0) == (ids{2, 3, 4}), boost::test_tools::per_element());
    pool.advance(900us, 100us);
    BOOST_TEST(pool.recalled().empty());
    pool.advance(1200us, 100us);
    BOOST_TEST(pool.recalled() == (ids{4, 3}), boost::test_tools::per_element());
    pool.give_back(4);
    pool.give_back(3);
    BOOST_TEST(pool.status().queued == 2u);
    BOOST_TEST(pool.counters().recalled == 2u);
    pool.advance(10ms);
    pool.reply(1, 1);
    BOOST_TEST(pool.taken(1) == (ids{2, 3}), boost::test_tools::per_element());
    pool.reply(2, 1);
    BOOST_REQUIRE(second->value);
    BOOST_TEST(second->value->attempts == 1);
    BOOST_TEST(!third->done);
    pool.reply(3, 1);
    BOOST_TEST(third->value.has_value());
    BOOST_TEST(!first->done);
    pool.reply(2);
    BOOST_TEST(first->value.has_value());
    BOOST_TEST(pool.counters().retried == 0u);
}

BOOST_AUTO_TEST_CASE(they_keep_their_order) {
    recalling_pool pool;
    for (const auto* const name : {"first", "second", "third"}) {
        pool.execute(request("short").correlation_id(name));
    }
    pool.execute(request("short").correlation_id("fourth").queue_timeout(1h));
    pool.advance(3ms, 1ms);
    BOOST_TEST(pool.taken() == (ids{2, 3, 4, 5}), boost::test_tools::per_element());
    pool.execute(request("short").correlation_id("fifth"));
    BOOST_TEST(pool.recalled() == (ids{5, 4, 3}), boost::test_tools::per_element());
    for (const auto id : {5u, 4u, 3u}) {
        pool.give_back(id);
    }
    pool.reply(2);
    std::vector<std::string> order;
    for (const auto& call : pool.worker(0).take_calls()) {
        order.emplace_back(call.at("correlation_id").as_string());
    }
    BOOST_REQUIRE(!order.empty());
    BOOST_TEST(order[0] == "second");
}

BOOST_AUTO_TEST_CASE(no_call_follows_while_one_is_recalled_or_takes_long) {
    recalling_pool pool;
    pool.execute(request("short"));
    pool.execute(request("short"));
    pool.advance(3ms, 1ms);
    BOOST_TEST(pool.recalled() == ids{3}, boost::test_tools::per_element());
    pool.execute(request("short"));
    BOOST_TEST(pool.taken() == (ids{2, 3}), boost::test_tools::per_element());
    pool.give_back(3);
    BOOST_TEST(pool.taken().empty());
    BOOST_TEST(pool.status().queued == 2u);
}

BOOST_AUTO_TEST_CASE(no_call_lies_behind_one_that_has_run_for_long) {
    recalling_pool pool;
    pool.execute(request("short"));
    pool.advance(2ms, 1ms);
    pool.execute(request("short"));
    BOOST_TEST(pool.taken() == ids{2}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_recalled_call_that_had_begun_is_answered) {
    recalling_pool pool;
    pool.execute(request("short"));
    const auto recalled = pool.execute(request("short"));
    pool.advance(3ms, 1ms);
    pool.reply(2);
    pool.reply(3);
    BOOST_TEST(recalled->value.has_value());
    BOOST_TEST(pool.counters().recalled == 0u);
    BOOST_TEST(pool.status().in_flight == 0u);
    pool.taken();
    pool.execute(request("short")); // the worker serves on
    BOOST_TEST(pool.taken() == ids{4}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(one_given_back_that_was_not_recalled_breaks_the_protocol) {
    for (const std::uint64_t id : {3u, 2u, 7u}) { // ahead, running and unknown
        recalling_pool pool;
        pool.execute(request("short"));
        pool.execute(request("short"));
        pool.give_back(id);
        pool.advance(2ms);
        BOOST_TEST(pool.launched() == 2u, "id " << id);
        BOOST_TEST(pool.counters().workers_lost == 1u);
    }
}

BOOST_AUTO_TEST_CASE(one_given_back_that_has_begun_breaks_the_protocol) {
    const boost::json::object report{{"type", "progress"}, {"id", 3}, {"fraction", 0.5}, {"text", ""}};
    const boost::json::object tool_call{
        {"type", "tool_call"}, {"id", 3}, {"tool_call", 1}, {"name", "x"}, {"args", boost::json::object()}};
    for (const auto& sign : {report, tool_call}) {
        recalling_pool pool;
        pool.execute(request("short"));
        pool.execute(request("short"));
        pool.advance(3ms, 1ms);
        BOOST_TEST(pool.recalled() == ids{3}, boost::test_tools::per_element());
        pool.worker(0).send_data(sign);
        pool.run_until_idle();
        BOOST_TEST(pool.counters().workers_lost == 0u);
        pool.give_back(3);
        pool.advance(2ms);
        BOOST_TEST(pool.counters().workers_lost == 1u);
        BOOST_TEST(pool.counters().recalled == 0u);
    }
}

BOOST_AUTO_TEST_CASE(an_answer_to_one_given_back_breaks_the_protocol) {
    recalling_pool pool;
    pool.execute(request("short"));
    pool.execute(request("short"));
    pool.advance(3ms, 1ms);
    pool.give_back(3);
    pool.reply(3);
    pool.advance(2ms);
    BOOST_TEST(pool.counters().workers_lost == 1u);
}

BOOST_AUTO_TEST_CASE(one_given_back_that_nobody_waits_for_any_more) {
    recalling_pool pool;
    pool.execute(request("short"));
    const auto abandoned = pool.execute(request("short").timeout(10ms));
    pool.advance(20ms, 1ms);
    BOOST_TEST(abandoned->code() == errc::timeout);
    pool.give_back(3);
    BOOST_TEST(pool.counters().recalled == 0u);
    pool.reply(2);
    BOOST_TEST(pool.status().queued == 0u);
    pool.advance(10s);
    BOOST_TEST(pool.launched() == 1u);
}

/// Whether the worker has begun the recalled call or the call behind it is unknown.
BOOST_AUTO_TEST_CASE(a_recalled_call_given_up_gets_its_grace_when_it_can_have_begun) {
    recalling_pool pool;
    pool.execute(request("short"));
    pool.execute(request("short").timeout(10ms));
    pool.advance(20ms, 1ms);
    pool.advance(10s);
    BOOST_TEST(pool.worker(0).terminations == 0);
    pool.reply(2);
    pool.advance(3s);
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(a_call_given_back_before_the_worker_died_had_not_begun) {
    recalling_pool pool;
    const auto running = pool.execute(request("short"));
    const auto returned = pool.execute(request("short"));
    pool.advance(3ms, 1ms);
    pool.give_back(3);
    crash_worker(pool, 0);
    BOOST_TEST(running->code() == errc::worker_lost);
    BOOST_TEST(pool.serve(1) == "short");
    BOOST_TEST(returned->value.has_value());
}

/// The worker may have given the second call back, and begun the third.
BOOST_AUTO_TEST_CASE(calls_behind_a_recalled_one_may_have_begun) {
    recalling_pool pool;
    pool.execute(request("short"));
    const auto second = pool.execute(request("short"));
    const auto third = pool.execute(request("short"));
    pool.advance(3ms, 1ms);
    pool.reply(2);
    crash_worker(pool, 0);
    BOOST_TEST(second->code() == errc::worker_lost);
    BOOST_TEST(third->code() == errc::worker_lost);
}

BOOST_AUTO_TEST_CASE(a_leaving_worker_gives_back_what_it_has_not_begun) {
    recalling_pool pool;
    pool.execute(request("short"));
    const auto ahead = pool.execute(request("short"));
    pool.taken();
    pool.begin(pool.facade().restart(pool.status().workers[0].id));
    BOOST_REQUIRE_EQUAL(pool.launched(), 2u);
    BOOST_TEST(pool.recalled() == ids{3}, boost::test_tools::per_element());
    pool.give_back(3);
    BOOST_TEST(pool.serve(1) == "short");
    BOOST_TEST(ahead->value.has_value());
    pool.reply(2);
}

/// The next call begins when any of the running calls ends.
BOOST_AUTO_TEST_CASE(a_worker_with_several_places_is_late_if_all_its_calls_are) {
    auto config = fake_config();
    config.capacity = 2;
    recalling_pool pool(config);
    for (int i = 0; i < 7; ++i) {
        pool.execute(request("short"));
    }
    BOOST_TEST(pool.taken() == (ids{2, 3, 4, 5, 6, 7}), boost::test_tools::per_element());
    pool.advance(900us, 100us);
    pool.reply(2);
    BOOST_TEST(pool.taken() == ids{8}, boost::test_tools::per_element());
    pool.advance(600us, 100us);
    BOOST_TEST(pool.recalled().empty());
    pool.advance(1500us, 100us);
    BOOST_TEST(pool.recalled() == (ids{8, 7, 6, 5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_number_of_calls_ahead_is_never_recalled) {
    auto config = fake_config();
    config.pipeline_depth = 2;
    recalling_pool pool(config);
    pool.execute(request("short"));
    pool.execute(request("short"));
    BOOST_TEST(pool.taken() == (ids{2, 3}), boost::test_tools::per_element());
    pool.advance(50ms, 1ms);
    BOOST_TEST(pool.recalled().empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
