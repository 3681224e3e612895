// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

/// A pool of one worker without a control channel.
class control_free_pool : public manual_pool {
public:
    explicit control_free_pool(pool_config config = fake_config()) : manual_pool(std::move(config)) {
        runtime().with_control = false;
        const auto started = start();
        BOOST_REQUIRE_MESSAGE(started->value, "start: " << started->text());
    }

    std::size_t pings() { return worker(0).take_controls("ping").size(); }
};

/// The same, where the worker does not answer pings.
class silent_pool : public control_free_pool {
public:
    explicit silent_pool(pool_config config = fake_config()) : control_free_pool(std::move(config)) {
        worker(0).answers_pings = false;
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(control_free_worker)

BOOST_AUTO_TEST_CASE(it_is_welcomed_over_the_data_channel) {
    control_free_pool pool;
    BOOST_TEST(pool.worker(0).hello().at("control") == false);
    BOOST_TEST(pool.worker(0).take_controls("welcome").size() == 1u);
    BOOST_TEST(to_string(pool.status().workers.at(0).state) == "ready");
}

BOOST_AUTO_TEST_CASE(it_needs_no_token) {
    manual_pool pool(fake_config());
    pool.runtime().with_control = false;
    pool.runtime().on_start = [](fake_worker& fresh) {
        auto hello = fresh.hello();
        hello["token"] = "";
        fresh.send_data(hello);
        fresh.send_data({{"type", "ready"}});
    };
    const auto started = pool.start();
    BOOST_TEST(started->value.has_value());
}

BOOST_AUTO_TEST_CASE(its_pid_may_be_of_another_machine_and_gets_no_signal) {
    manual_pool pool(fake_config());
    pool.runtime().with_control = false;
    pool.runtime().on_start = [](fake_worker& fresh) {
        fresh.stack_signal = SIGUSR2;
        fresh.shake_hands();
        fresh.answers_pings = false;
    };
    pool.start();
    while (pool.worker(0).terminations == 0) {
        pool.advance(100ms);
    }
    BOOST_TEST(pool.worker(0).signals.empty());
}

BOOST_AUTO_TEST_CASE(what_is_printed_among_its_frames_is_shown) {
    control_free_pool pool;
    pool.worker(0).send_raw("Connection to elsewhere closed.\n");
    pool.run_until_idle();
    BOOST_TEST(pool.worker(0).terminations == 1);
    check_mentions(pool.status().workers.at(0).last_failure,
                   "something printed to its stdout, over which only frames may go: \"Connection to "
                   "elsewhere closed.\"");
}

BOOST_AUTO_TEST_CASE(also_if_it_is_the_last_that_it_does) {
    control_free_pool pool;
    pool.worker(0).send_raw("hi\n");
    pool.worker(0).exit(exit_status::exited(0));
    pool.run_until_idle();
    check_mentions(pool.status().workers.at(0).last_failure, "only frames may go: \"hi\"");
}

BOOST_AUTO_TEST_CASE(where_there_is_a_control_channel_it_is_just_no_frame) {
    running_pool pool(fake_config());
    pool.worker(0).send_raw("Connection to elsewhere closed.\n");
    pool.run_until_idle();
    BOOST_TEST(pool.worker(0).terminations == 1);
    check_mentions(pool.status().workers.at(0).last_failure, "exceeds the limit");
}

BOOST_AUTO_TEST_CASE(it_answers_calls) {
    auto config = fake_config();
    config.capacity = 2;
    control_free_pool pool(config);
    const auto first = pool.execute(request("first"));
    const auto second = pool.execute(request("second"));
    const auto calls = pool.worker(0).take_calls();
    BOOST_REQUIRE_EQUAL(calls.size(), 2u);
    BOOST_TEST(calls[0].at("command") == "first");
    pool.worker(0).reply(id_of(calls[1]));
    pool.worker(0).fail(id_of(calls[0]), "ValueError", "no");
    pool.run_until_idle();
    BOOST_TEST(second->value.has_value());
    BOOST_TEST(first->code() == errc::remote_error);
}

BOOST_AUTO_TEST_SUITE(pings)

BOOST_AUTO_TEST_CASE(idle_it_is_pinged_each_interval) {
    silent_pool pool;
    BOOST_TEST(pool.pings() == 1u);
    pool.advance(1990ms);
    BOOST_TEST(pool.pings() == 0u);
    pool.advance(10ms);
    BOOST_TEST(pool.pings() == 1u);
}

BOOST_AUTO_TEST_CASE(at_a_call_it_is_not_and_may_take_its_time) {
    silent_pool pool;
    const auto call = pool.execute(request("x").timeout(0s));
    pool.pings();
    pool.advance(10min, 500ms);
    BOOST_TEST(pool.pings() == 0u);
    BOOST_TEST(pool.counters().missed_pings == 0u);
    pool.serve();
    BOOST_TEST(call->value.has_value());
    pool.advance(2s);
    BOOST_TEST(pool.pings() == 1u);
    BOOST_TEST(pool.worker(0).terminations == 0);
}

BOOST_AUTO_TEST_CASE(its_answers_come_over_the_data_channel) {
    control_free_pool pool;
    pool.advance(10min, 500ms);
    BOOST_TEST(pool.launched() == 1u);
    BOOST_TEST(pool.counters().missed_pings == 0u);
    pool.warm_up();
}

BOOST_AUTO_TEST_CASE(one_that_a_call_has_overtaken_may_be_answered_after_it) {
    silent_pool pool;
    const auto call = pool.execute(request("x").timeout(0s)); // the first ping is under way
    pool.advance(1min, 500ms);
    pool.serve();
    BOOST_TEST(pool.worker(0).answer_pings() == 1u);
    pool.advance(10ms);
    BOOST_TEST(call->value.has_value());
    BOOST_TEST(pool.worker(0).terminations == 0);
    BOOST_TEST(pool.counters().missed_pings == 0u);
}

BOOST_AUTO_TEST_CASE(an_answer_to_none_breaks_the_protocol) {
    control_free_pool pool;
    pool.worker(0).send_data({{"type", "pong"}, {"seq", 7}, {"in_flight", 0}, {"completed", 0}});
    pool.run_until_idle();
    BOOST_TEST(pool.worker(0).terminations == 1);
    check_mentions(pool.status().workers.at(0).last_failure, "an unexpected pong");
}

BOOST_AUTO_TEST_CASE(where_there_is_a_control_channel_answers_have_to_come_over_that) {
    running_pool pool(fake_config());
    pool.worker(0).send_data({{"type", "pong"}, {"seq", 1}, {"in_flight", 0}, {"completed", 0}});
    pool.run_until_idle();
    BOOST_TEST(pool.worker(0).terminations == 1);
    check_mentions(pool.status().workers.at(0).last_failure,
                   "pong, recalled, release, region, event and log may come over the control channel only");
}

BOOST_AUTO_TEST_CASE(silent_while_idle_it_is_lost) {
    silent_pool pool;
    pool.warm_up();
    pool.advance(15'990ms); // the answer counts as life, and the next ping comes after 2 s
    BOOST_TEST(pool.worker(0).terminations == 0);
    pool.advance(10ms);
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(pool.counters().missed_pings == 3u);
    pool.run_until_idle();
    BOOST_TEST(pool.launched() == 2u);
}

BOOST_AUTO_TEST_CASE(silent_before_a_call_it_gets_its_time_anew_after_it) {
    silent_pool pool;
    pool.advance(13s);
    BOOST_TEST(pool.counters().missed_pings == 2u);
    const auto call = pool.execute(request("x"));
    pool.advance(3s);
    pool.serve();
    pool.advance(10s);
    BOOST_TEST(call->value.has_value());
    BOOST_TEST(pool.worker(0).terminations == 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(frames)

BOOST_AUTO_TEST_CASE(a_cancel_goes_over_the_data_channel) {
    control_free_pool pool;
    const auto call = pool.execute(request("x"));
    const auto id = pool.worker(0).take_call();
    call->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    const auto cancels = pool.worker(0).take_controls("cancel");
    BOOST_REQUIRE_EQUAL(cancels.size(), 1u);
    BOOST_TEST(id_of(cancels[0]) == id);
    BOOST_TEST(call->done);
    pool.worker(0).reply(id);
    pool.warm_up();
    BOOST_TEST(pool.launched() == 1u);
}

BOOST_AUTO_TEST_CASE(frozen_at_a_call_it_is_ended_for_that) {
    auto config = fake_config();
    config.cancel_grace = 2s;
    silent_pool pool(config);
    const auto call = pool.execute(request("x").timeout(5s));
    pool.advance(5s);
    BOOST_TEST(call->code() == errc::timeout);
    BOOST_TEST(pool.worker(0).take_controls("cancel").size() == 1u);
    pool.advance(1990ms);
    BOOST_TEST(pool.worker(0).terminations == 0);
    pool.advance(10ms);
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(it_is_asked_to_end_over_the_data_channel) {
    control_free_pool pool;
    const auto down = pool.shutdown();
    const auto asked = pool.worker(0).take_controls("shutdown");
    BOOST_REQUIRE_EQUAL(asked.size(), 1u);
    BOOST_TEST(asked[0].at("grace_ms") == 3000);
    pool.worker(0).exit(exit_status::exited(0));
    pool.run_until_idle();
    BOOST_REQUIRE(down->value);
    BOOST_TEST(to_string(down->value->workers.at(0).state) == "stopped");
    BOOST_TEST(pool.worker(0).terminations == 0);
}

BOOST_AUTO_TEST_CASE(that_cuts_off_no_call_that_is_on_its_way) {
    auto config = fake_config();
    config.stop.drain_timeout = 0s;
    control_free_pool pool(config);
    const auto call = pool.execute(request("x").arg("text", std::string(2u << 20, 'x')));
    const auto down = pool.shutdown();
    BOOST_TEST(call->done);
    std::vector<boost::json::object> calls;
    std::size_t asked = 0;
    for (int i = 0; i < 100 && asked == 0; ++i) {
        for (auto& each : pool.worker(0).take_calls()) {
            calls.push_back(std::move(each));
        }
        asked = pool.worker(0).take_controls("shutdown").size();
        pool.run_until_idle();
    }
    BOOST_TEST(calls.size() == 1u);
    BOOST_TEST(asked == 1u);
    pool.worker(0).exit(exit_status::exited(0));
    pool.run_until_idle();
    BOOST_TEST(down->value.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
