// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(stop_sequence_test)

namespace {

/// The stages that a worker went through and when, such as "ask@0 terminate@1000".
std::string path(const worker_exit& exit) {
    std::string text;
    for (const auto& reached : exit.stages) {
        text += (text.empty() ? "" : " ") + std::string(to_string(reached.stage)) + "@" +
                std::to_string(reached.after / 1ms);
    }
    return text;
}

/// What became of the pool's only worker.
const worker_exit& only_exit(const manual_pool::outcome<shutdown_report>& down) {
    BOOST_REQUIRE(down.value);
    BOOST_REQUIRE_EQUAL(down.value->workers.size(), 1u);
    return down.value->workers[0];
}

} // namespace

BOOST_AUTO_TEST_CASE(one_that_complies_needs_no_more_than_being_asked) {
    running_pool pool(fake_config());
    const auto down = pool.shutdown();
    BOOST_TEST(pool.worker(0).take_controls("shutdown").size() == 1u);
    pool.advance(500ms);
    BOOST_TEST(!down->done);
    pool.worker(0).exit(exit_status::exited(0));
    pool.run_until_idle();
    const auto& end = only_exit(*down);
    BOOST_TEST(path(end) == "ask@0");
    BOOST_TEST(to_string(end.stage()) == "ask");
    BOOST_TEST(to_string(end.state) == "stopped");
    BOOST_TEST((end.status == exit_status::exited(0)));
    BOOST_TEST(to_string(end.id) == "default/0#1");
    BOOST_TEST(end.pid == 1000000);
    BOOST_TEST(down->value->clean());
    BOOST_TEST((down->value->took == 500ms));
    BOOST_TEST(pool.worker(0).terminations == 0);
}

BOOST_AUTO_TEST_CASE(it_is_told_how_long_it_has) {
    running_pool pool(fake_config());
    pool.shutdown();
    const auto asked = pool.worker(0).take_controls("shutdown");
    BOOST_REQUIRE_EQUAL(asked.size(), 1u);
    BOOST_TEST(asked[0].at("grace_ms") == 3000); // stop.shutdown_grace and stop.term_grace
}

BOOST_AUTO_TEST_CASE(one_that_ignores_the_frame_gets_a_signal) {
    running_pool pool(fake_config());
    const auto down = pool.shutdown();
    pool.advance(990ms);
    BOOST_TEST(pool.worker(0).terminations == 0);
    pool.advance(10ms);
    BOOST_TEST(pool.worker(0).terminations == 1);
    const auto& end = only_exit(*down);
    BOOST_TEST(path(end) == "ask@0 terminate@1000");
    BOOST_TEST(to_string(end.state) == "stopped");
    BOOST_TEST((end.status == exit_status::signalled(SIGTERM)));
    BOOST_TEST(down->value->clean());
}

BOOST_AUTO_TEST_CASE(one_that_ends_properly_on_the_signal_is_stopped_too) {
    running_pool pool(fake_config());
    pool.worker(0).obeys_terminate = false;
    const auto down = pool.shutdown();
    pool.advance(1500ms);
    BOOST_TEST(pool.worker(0).terminations == 1);
    pool.worker(0).exit(exit_status::exited(0));
    pool.run_until_idle();
    BOOST_TEST(path(only_exit(*down)) == "ask@0 terminate@1000");
    BOOST_TEST(to_string(only_exit(*down).state) == "stopped");
    BOOST_TEST((down->value->took == 1500ms));
}

BOOST_AUTO_TEST_CASE(one_that_ignores_the_signal_is_killed) {
    running_pool pool(fake_config());
    pool.worker(0).obeys_terminate = false;
    const auto down = pool.shutdown();
    pool.advance(2990ms);
    BOOST_TEST(pool.worker(0).kills == 0);
    BOOST_TEST(!down->done);
    pool.advance(10ms);
    const auto& end = only_exit(*down);
    BOOST_TEST(path(end) == "ask@0 terminate@1000 kill@3000");
    BOOST_TEST(to_string(end.state) == "killed");
    BOOST_TEST((end.status == exit_status::signalled(SIGKILL)));
    BOOST_TEST(down->value->clean());
    BOOST_TEST((down->value->took == 3s));
}

BOOST_AUTO_TEST_CASE(one_that_cannot_be_killed_is_given_up) {
    running_pool pool(fake_config());
    pool.worker(0).obeys_terminate = false;
    pool.worker(0).obeys_kill = false;
    const auto down = pool.shutdown();
    pool.advance(4990ms);
    BOOST_TEST(!down->done);
    pool.advance(300ms);
    const auto& end = only_exit(*down);
    BOOST_TEST(path(end) == "ask@0 terminate@1000 kill@3000 lost@5000");
    BOOST_TEST(to_string(end.stage()) == "lost");
    BOOST_TEST(to_string(end.state) == "killed");
    BOOST_TEST(!end.status.known());
    BOOST_TEST(!down->value->clean());
    BOOST_TEST((down->value->took <= 5300ms));
}

BOOST_AUTO_TEST_CASE(one_that_ends_badly_when_asked_has_failed) {
    running_pool pool(fake_config());
    const auto down = pool.shutdown();
    pool.worker(0).exit(exit_status::exited(3));
    pool.run_until_idle();
    BOOST_TEST(path(only_exit(*down)) == "ask@0");
    BOOST_TEST(to_string(only_exit(*down).state) == "failed");
    BOOST_TEST(down->value->clean());
}

BOOST_AUTO_TEST_CASE(an_end_that_just_beats_the_kill_is_no_kill) {
    running_pool pool(fake_config());
    pool.worker(0).obeys_terminate = false;
    pool.worker(0).obeys_kill = false;
    const auto down = pool.shutdown();
    pool.advance(3s);
    pool.worker(0).exit(exit_status::exited(0));
    pool.run_until_idle();
    BOOST_TEST(path(only_exit(*down)) == "ask@0 terminate@1000 kill@3000");
    BOOST_TEST(to_string(only_exit(*down).state) == "stopped");
}

BOOST_AUTO_TEST_CASE(stages_without_time_are_left_at_once) {
    auto config = fake_config();
    config.stop.shutdown_grace = 0s;
    config.stop.term_grace = 0s;
    config.stop.reap_timeout = 10ms;
    running_pool pool(config);
    pool.worker(0).obeys_terminate = false;
    pool.worker(0).obeys_kill = false;
    const auto down = pool.shutdown();
    pool.run_until_idle();
    BOOST_TEST(pool.worker(0).take_controls("shutdown").size() == 1u);
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(pool.worker(0).kills == 1);
    pool.advance(300ms);
    BOOST_TEST(path(only_exit(*down)) == "ask@0 terminate@0 kill@0 lost@10");
}

BOOST_AUTO_TEST_CASE(the_times_can_be_set) {
    auto config = fake_config();
    config.stop.shutdown_grace = 5s;
    config.stop.term_grace = 100ms;
    config.stop.reap_timeout = 3s;
    running_pool pool(config);
    pool.worker(0).obeys_terminate = false;
    pool.worker(0).obeys_kill = false;
    const auto down = pool.shutdown();
    pool.advance(9s);
    BOOST_TEST(path(only_exit(*down)) == "ask@0 terminate@5000 kill@5100 lost@8100");
}

BOOST_AUTO_TEST_CASE(pings_end_where_the_stop_sequence_begins) {
    running_pool pool(fake_config());
    pool.worker(0).answers_pings = false;
    pool.worker(0).obeys_terminate = false;
    pool.shutdown();
    pool.worker(0).take_controls("ping");
    pool.advance(2900ms);
    BOOST_TEST(pool.worker(0).take_controls("ping").empty());
}

BOOST_AUTO_TEST_CASE(all_go_down_together_and_each_at_its_own_pace) {
    running_pool pool(fake_config(4));
    pool.worker(2).obeys_terminate = false;
    pool.worker(3).obeys_terminate = false;
    pool.worker(3).obeys_kill = false;
    const auto down = pool.shutdown();
    pool.worker(0).exit(exit_status::exited(0));
    pool.advance(5300ms);
    BOOST_REQUIRE(down->value);
    BOOST_REQUIRE_EQUAL(down->value->workers.size(), 4u);
    std::vector<std::string> stages(4);
    for (const auto& end : down->value->workers) {
        stages[end.id.slot] = std::string(to_string(end.stage()));
    }
    BOOST_TEST(stages == (std::vector<std::string>{"ask", "terminate", "kill", "lost"}),
               boost::test_tools::per_element());
    BOOST_TEST(!down->value->clean());
    BOOST_TEST((down->value->took <= 5300ms));
}

BOOST_AUTO_TEST_CASE(one_that_is_not_ready_yet_is_not_asked) {
    manual_pool pool(fake_config());
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.obeys_terminate = false; };
    pool.start();
    const auto down = pool.shutdown();
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(pool.worker(0).take_controls("shutdown").empty());
    pool.advance(2s);
    BOOST_TEST(path(only_exit(*down)) == "terminate@0 kill@2000");
}

BOOST_AUTO_TEST_CASE(one_that_is_on_its_way_out_already_is_in_the_report) {
    running_pool pool(fake_config());
    pool.worker(0).obeys_terminate = false;
    pool.runtime().on_start = [](fake_worker&) {};
    pool.worker(0).send_raw("garbage");
    pool.advance(500ms);
    const auto down = pool.shutdown();
    pool.advance(3s);
    BOOST_REQUIRE(down->value);
    BOOST_REQUIRE_EQUAL(down->value->workers.size(), 2u);
    for (const auto& end : down->value->workers) {
        if (end.id.generation == 1) {
            BOOST_TEST(path(end) == "terminate@0 kill@2000"); // it does not begin again
            BOOST_TEST(to_string(end.state) == "killed");
        } else {
            BOOST_TEST(path(end) == "terminate@0");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_worker_that_broke_a_rule_is_not_asked) {
    running_pool pool(fake_config());
    pool.worker(0).obeys_terminate = false;
    pool.worker(0).send_raw("garbage");
    pool.run_until_idle();
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(pool.worker(0).take_controls("shutdown").empty());
    pool.advance(1990ms);
    BOOST_TEST(pool.worker(0).kills == 0);
    pool.advance(10ms);
    BOOST_TEST(pool.worker(0).has_exited());
}

BOOST_AUTO_TEST_CASE(one_that_cannot_be_ended_does_not_keep_its_slot_empty) {
    running_pool pool(fake_config());
    pool.warm_up();
    pool.worker(0).obeys_terminate = false;
    pool.worker(0).obeys_kill = false;
    pool.worker(0).send_raw("garbage");
    pool.run_until_idle();
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(pool.status().workers.size() == 2u); // its successor, and it on its way out
    pool.advance(10s);
    BOOST_TEST(pool.status().workers.size() == 1u);
    const auto call = pool.execute(request("x"));
    pool.serve(1);
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
