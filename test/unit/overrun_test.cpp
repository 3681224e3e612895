// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

pool_config with_capacity(std::size_t capacity) {
    auto config = fake_config();
    config.capacity = capacity;
    return config;
}

/// The ids of the calls that the worker has been told to cancel since the last look.
std::vector<std::uint64_t> cancelled_ids(fake_worker& worker) {
    std::vector<std::uint64_t> ids;
    for (const auto& cancel : worker.take_controls("cancel")) {
        ids.push_back(id_of(cancel));
    }
    return ids;
}

} // namespace

/// Calls whose caller has been answered though the worker is still at it.
BOOST_AUTO_TEST_SUITE(overrun)

BOOST_AUTO_TEST_SUITE(alone)

BOOST_AUTO_TEST_CASE(the_worker_is_told_at_once) {
    running_pool pool(fake_config());
    pool.execute(request("slow").timeout(1s));
    const auto id = pool.worker(0).take_call();
    pool.advance(990ms);
    BOOST_TEST(cancelled_ids(pool.worker(0)).empty());
    pool.advance(10ms);
    const auto told = cancelled_ids(pool.worker(0));
    BOOST_TEST(told == std::vector{id}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(its_place_stays_taken_until_the_worker_answers) {
    running_pool pool(fake_config());
    pool.execute(request("slow").timeout(1s));
    const auto id = pool.worker(0).take_call();
    pool.advance(1s);
    const auto next = pool.execute(request("next"));
    BOOST_TEST(pool.worker(0).take_calls().empty());
    BOOST_TEST(pool.status().workers[0].load == 1u);
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(pool.serve() == "next");
    BOOST_TEST(next->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_late_answer_is_dropped_and_counted_and_the_worker_goes_on) {
    running_pool pool(fake_config());
    const auto slow = pool.execute(request("slow").timeout(1s));
    const auto id = pool.worker(0).take_call();
    pool.advance(2500ms);
    pool.worker(0).reply(id, "too late");
    pool.run_until_idle();
    BOOST_TEST(slow->code() == errc::timeout);
    BOOST_TEST(pool.counters().late_answers == 1u);
    const auto next = pool.execute(request("next"));
    pool.serve();
    BOOST_TEST(next->value.has_value());
    pool.advance(10s);
    BOOST_TEST(pool.launched() == 1u);
    BOOST_TEST(pool.worker(0).terminations == 0);
}

BOOST_AUTO_TEST_CASE(a_late_error_is_an_answer_too) {
    running_pool pool(fake_config());
    const auto slow = pool.execute(request("slow").timeout(1s));
    const auto id = pool.worker(0).take_call();
    pool.advance(1s);
    pool.worker(0).fail(id, "skep.Cancelled", "as told");
    pool.run_until_idle();
    BOOST_TEST(slow->code() == errc::timeout);
    BOOST_TEST(pool.counters().late_answers == 1u);
    BOOST_TEST(pool.counters().remote_errors == 0u);
    BOOST_TEST(!pool.execute(request("next"))->done);
    BOOST_TEST(pool.worker(0).take_calls().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_second_late_answer_ends_the_worker) {
    running_pool pool(fake_config());
    pool.execute(request("slow").timeout(1s));
    const auto id = pool.worker(0).take_call();
    pool.advance(1s);
    pool.worker(0).reply(id);
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(a_worker_that_does_not_let_go_is_replaced_after_the_grace) {
    running_pool pool(fake_config());
    pool.warm_up();
    pool.execute(request("slow").timeout(1s));
    pool.advance(2990ms);
    BOOST_TEST(pool.worker(0).terminations == 0);
    BOOST_TEST(pool.launched() == 1u);
    pool.advance(10ms);
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(!pool.execute(request("next"))->done);
    BOOST_TEST(pool.worker(1).take_calls().size() == 1u);
}

BOOST_AUTO_TEST_CASE(it_is_not_held_against_the_slot_however_often) {
    running_pool pool(fake_config());
    for (std::size_t i = 0; i < 5; ++i) {
        pool.execute(request("slow").timeout(1s));
        pool.advance(3s);
        BOOST_TEST(pool.launched() == i + 2);
    }
}

BOOST_AUTO_TEST_CASE(the_replacement_does_not_wait_for_the_old_one_to_end) {
    running_pool pool(fake_config());
    pool.warm_up();
    pool.worker(0).obeys_terminate = false;
    pool.execute(request("slow").timeout(1s));
    pool.advance(3s);
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(!pool.worker(0).has_exited());
    const auto next = pool.execute(request("next"));
    pool.serve(1);
    BOOST_TEST(next->value.has_value());
    pool.advance(2s); // stop.term_grace
    BOOST_TEST(pool.worker(0).has_exited());
    BOOST_TEST(pool.status().workers.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_grace_of_zero_replaces_at_once) {
    auto config = fake_config();
    config.cancel_grace = 0s;
    running_pool pool(config);
    pool.warm_up();
    pool.execute(request("slow").timeout(1s));
    pool.advance(1s);
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(pool.launched() == 2u);
}

BOOST_AUTO_TEST_CASE(an_answer_that_comes_while_the_worker_is_stopped_does_no_harm) {
    running_pool pool(fake_config());
    pool.warm_up();
    pool.worker(0).obeys_terminate = false;
    const auto slow = pool.execute(request("slow").timeout(1s));
    const auto id = pool.worker(0).take_call();
    pool.advance(3500ms);
    pool.worker(0).reply(id, "far too late");
    pool.advance(5s);
    BOOST_TEST(slow->code() == errc::timeout);
    BOOST_TEST(pool.worker(0).has_exited());
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(pool.counters().workers_lost == 0u);
}

BOOST_AUTO_TEST_CASE(a_waiting_call_goes_to_the_replacement) {
    running_pool pool(fake_config());
    pool.warm_up();
    pool.execute(request("slow").timeout(1s));
    const auto next = pool.execute(request("next"));
    pool.advance(3s);
    BOOST_TEST(pool.serve(1) == "next");
    BOOST_TEST(next->value.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

/// A worker with room for two calls, one of which has been given up.
BOOST_AUTO_TEST_SUITE(shared_worker)

namespace {

pool_config room_for_two() {
    auto config = with_capacity(2);
    config.heartbeat.enabled = false;
    return config;
}

} // namespace

BOOST_AUTO_TEST_CASE(the_other_call_is_not_touched) {
    running_pool pool(room_for_two());
    pool.warm_up();
    const auto slow = pool.execute(request("slow").timeout(1s));
    const auto other = pool.execute(request("other"));
    const auto calls = pool.worker(0).take_calls();
    BOOST_REQUIRE_EQUAL(calls.size(), 2u);
    pool.advance(10s);
    BOOST_TEST(slow->code() == errc::timeout);
    BOOST_TEST(!other->done);
    BOOST_TEST(pool.worker(0).terminations == 0);
    BOOST_TEST(pool.launched() == 2u);
    pool.worker(0).reply(id_of(calls[1]), "fine");
    pool.run_until_idle();
    BOOST_REQUIRE(other->value);
    BOOST_TEST(other->value->value == "fine");
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(it_takes_no_more_calls) {
    running_pool pool(room_for_two());
    pool.warm_up();
    pool.execute(request("slow").timeout(1s));
    pool.execute(request("other"));
    pool.worker(0).take_calls();
    pool.advance(3s);
    pool.execute(request("next"));
    pool.execute(request("next but one"));
    BOOST_TEST(pool.worker(0).take_calls().empty());
    BOOST_TEST(pool.worker(1).take_calls().size() == 2u);
}

BOOST_AUTO_TEST_CASE(its_pings_go_on_at_their_pace, *boost::unit_test::timeout(10)) {
    running_pool pool(with_capacity(2));
    pool.warm_up();
    pool.execute(request("slow").timeout(1s));
    pool.execute(request("other"));
    pool.advance(3s);
    pool.worker(0).answers_pings = false;
    pool.worker(0).answer_pings();
    pool.advance(4s);
    BOOST_TEST(pool.worker(0).take_controls("ping").size() == 2u);
}

BOOST_AUTO_TEST_CASE(it_is_still_lost_when_it_falls_silent, *boost::unit_test::timeout(10)) {
    running_pool pool(with_capacity(2));
    pool.warm_up();
    pool.execute(request("slow").timeout(1s));
    const auto other = pool.execute(request("other"));
    pool.advance(3s);
    pool.worker(0).answers_pings = false;
    pool.advance(16s);
    BOOST_TEST(other->code() == errc::worker_lost);
    check_mentions(other->text(), "ping");
}

BOOST_AUTO_TEST_CASE(its_last_answer_does_not_take_its_replacement_out_of_rotation) {
    running_pool pool(room_for_two());
    pool.warm_up();
    pool.execute(request("slow").timeout(1s));
    pool.execute(request("other"));
    const auto calls = pool.worker(0).take_calls();
    pool.advance(3s);
    pool.worker(0).reply(id_of(calls[1]));
    pool.run_until_idle();
    pool.execute(request("next"));
    BOOST_TEST(pool.worker(1).take_calls().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_late_answer_after_the_grace_does_not_save_it) {
    running_pool pool(room_for_two());
    pool.warm_up();
    pool.execute(request("slow").timeout(1s));
    const auto other = pool.execute(request("other"));
    const auto calls = pool.worker(0).take_calls();
    pool.advance(4s);
    pool.worker(0).reply(id_of(calls[0]));
    pool.run_until_idle();
    BOOST_TEST(pool.worker(0).terminations == 0);
    BOOST_TEST(pool.counters().late_answers == 1u);
    pool.worker(0).reply(id_of(calls[1]));
    pool.run_until_idle();
    BOOST_TEST(other->value.has_value());
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(it_is_stopped_when_the_other_call_is_given_up_too) {
    running_pool pool(room_for_two());
    pool.warm_up();
    pool.execute(request("slow").timeout(1s));
    const auto other = pool.execute(request("other").timeout(5s));
    pool.advance(6990ms);
    BOOST_TEST(other->code() == errc::timeout);
    BOOST_TEST(pool.worker(0).terminations == 0);
    pool.advance(10ms);
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(a_late_answer_within_the_grace_saves_it) {
    running_pool pool(room_for_two());
    pool.execute(request("slow").timeout(1s));
    pool.execute(request("other"));
    const auto calls = pool.worker(0).take_calls();
    pool.advance(2s);
    pool.worker(0).reply(id_of(calls[0]));
    pool.advance(10s);
    BOOST_TEST(pool.launched() == 1u);
    pool.execute(request("next"));
    BOOST_TEST(pool.worker(0).take_calls().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

/// Calls pipelined to a worker that is at capacity.
BOOST_AUTO_TEST_SUITE(pipelined)

namespace {

pool_config with_pipeline(std::size_t depth) {
    auto config = fake_config();
    config.pipeline_depth = depth;
    return config;
}

} // namespace

BOOST_AUTO_TEST_CASE(as_many_as_configured) {
    running_pool pool(with_pipeline(2));
    for (int i = 0; i < 5; ++i) {
        pool.execute(request("x"));
    }
    BOOST_TEST(pool.worker(0).take_calls().size() == 3u);
    BOOST_TEST(pool.status().queued == 2u);
}

BOOST_AUTO_TEST_CASE(a_free_worker_comes_first) {
    auto config = with_pipeline(2);
    config.workers = 2;
    running_pool pool(config);
    pool.execute(request("a"));
    pool.execute(request("b"));
    BOOST_TEST(pool.worker(0).take_calls().size() == 1u);
    BOOST_TEST(pool.worker(1).take_calls().size() == 1u);
}

BOOST_AUTO_TEST_CASE(one_given_up_before_it_can_have_begun_does_not_count_against_the_worker) {
    running_pool pool(with_pipeline(1));
    pool.execute(request("long"));
    const auto pipelined = pool.execute(request("pipelined").timeout(1s));
    const auto calls = pool.worker(0).take_calls();
    BOOST_REQUIRE_EQUAL(calls.size(), 2u);
    pool.advance(10s);
    BOOST_TEST(pipelined->code() == errc::timeout);
    BOOST_TEST(pool.worker(0).terminations == 0);
    const auto told = cancelled_ids(pool.worker(0));
    BOOST_TEST(told == std::vector{id_of(calls[1])}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(its_grace_begins_when_its_turn_comes) {
    running_pool pool(with_pipeline(1));
    pool.execute(request("long"));
    pool.execute(request("pipelined").timeout(1s));
    const auto calls = pool.worker(0).take_calls();
    pool.advance(10s);
    pool.worker(0).reply(id_of(calls[0]));
    pool.run_until_idle();
    pool.advance(1990ms);
    BOOST_TEST(pool.worker(0).terminations == 0);
    pool.advance(10ms);
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(one_that_cannot_have_begun_is_sent_again_though_not_idempotent) {
    running_pool pool(with_pipeline(1));
    pool.warm_up();
    const auto begun = pool.execute(request("begun"));
    const auto pipelined = pool.execute(request("pipelined"));
    pool.worker(0).exit(exit_status::exited(1));
    pool.run_until_idle();
    BOOST_TEST(begun->code() == errc::worker_lost);
    BOOST_TEST(!pipelined->done);
    BOOST_TEST(pool.serve(1) == "pipelined");
    BOOST_REQUIRE(pipelined->value);
    BOOST_TEST(pipelined->value->attempts == 1);
}

BOOST_AUTO_TEST_CASE(one_behind_a_call_that_will_not_end_moves_to_another_worker) {
    running_pool pool(with_pipeline(1));
    pool.warm_up();
    const auto stuck = pool.execute(request("stuck").timeout(1s));
    const auto pipelined = pool.execute(request("pipelined"));
    pool.advance(3s);
    BOOST_TEST(stuck->code() == errc::timeout);
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(pool.serve(1) == "pipelined");
    BOOST_TEST(pipelined->value.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
