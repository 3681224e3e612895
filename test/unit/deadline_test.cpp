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

/// The time that the worker is told it has for its one call, in milliseconds; -1 if it is told nothing.
int announced_ms(fake_worker& worker) {
    const auto calls = worker.take_calls();
    BOOST_REQUIRE_EQUAL(calls.size(), 1u);
    const auto* const time_left = calls[0].if_contains("deadline_ms");
    return time_left == nullptr ? -1 : time_left->to_number<int>();
}

/// Has worker 0 answer a call: what dies after that is replaced without backoff.
void do_useful_work(manual_pool& pool) {
    pool.execute(request("warm up"));
    pool.serve();
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

BOOST_AUTO_TEST_SUITE(deadline)

BOOST_AUTO_TEST_SUITE(moment)

BOOST_AUTO_TEST_CASE(a_running_call_times_out_at_its_time) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("slow").timeout(3s));
    pool.advance(2990ms);
    BOOST_TEST(!call->done);
    pool.advance(10ms);
    BOOST_TEST(call->code() == errc::timeout);
    BOOST_TEST(call->info().command == "slow");
    BOOST_TEST(to_string(call->info().worker.value_or(worker_id())) == "default/0#1");
    BOOST_TEST(pool.counters().timeouts == 1u);
}

BOOST_AUTO_TEST_CASE(the_pools_timeout_holds_where_the_request_names_none) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("slow"));
    pool.advance(59990ms);
    BOOST_TEST(!call->done);
    pool.advance(10ms);
    BOOST_TEST(call->code() == errc::timeout);
}

BOOST_AUTO_TEST_CASE(a_request_may_have_longer_than_the_pools_timeout) {
    auto config = fake_config();
    config.request_timeout = 1s;
    running_pool pool(config);
    const auto call = pool.execute(request("slow").timeout(5s));
    pool.advance(4990ms);
    BOOST_TEST(!call->done);
    pool.advance(10ms);
    BOOST_TEST(call->code() == errc::timeout);
}

BOOST_AUTO_TEST_CASE(a_moment_may_be_named) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("slow").deadline(clock::now() + 3s));
    pool.advance(2990ms);
    BOOST_TEST(!call->done);
    pool.advance(10ms);
    BOOST_TEST(call->code() == errc::timeout);
}

BOOST_AUTO_TEST_CASE(the_earlier_of_the_two_holds) {
    running_pool pool(fake_config(2));
    const auto by_moment = pool.execute(request("a").deadline(clock::now() + 1s).timeout(2s));
    const auto by_timeout = pool.execute(request("b").deadline(clock::now() + 2s).timeout(1s));
    pool.advance(990ms);
    BOOST_TEST(!by_moment->done);
    BOOST_TEST(!by_timeout->done);
    pool.advance(10ms);
    BOOST_TEST(by_moment->code() == errc::timeout);
    BOOST_TEST(by_timeout->code() == errc::timeout);
}

BOOST_AUTO_TEST_CASE(the_pools_timeout_counts_beside_a_moment) {
    auto config = fake_config();
    config.request_timeout = 1s;
    running_pool pool(config);
    const auto call = pool.execute(request("a").deadline(clock::now() + 1h));
    pool.advance(1s);
    BOOST_TEST(call->code() == errc::timeout);
}

BOOST_AUTO_TEST_CASE(a_moment_that_has_passed_ends_the_call_before_it_is_sent) {
    running_pool pool(fake_config());
    const auto late = pool.execute(request("late").deadline(clock::now() - 1ns));
    const auto just_late = pool.execute(request("just late").deadline(clock::now()));
    const auto very_late = pool.execute(request("very late").deadline(time_point::min()));
    BOOST_TEST(late->code() == errc::timeout);
    BOOST_TEST(just_late->code() == errc::timeout);
    BOOST_TEST(very_late->code() == errc::timeout);
    BOOST_TEST(pool.worker(0).take_calls().empty());
    BOOST_TEST(pool.counters().timeouts == 3u);
}

BOOST_AUTO_TEST_CASE(a_timeout_of_zero_is_none) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("endless").timeout(0s));
    pool.advance(2h, 500ms);
    BOOST_TEST(!call->done);
    pool.serve();
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_pool_may_have_none) {
    auto config = fake_config();
    config.request_timeout = 0s;
    running_pool pool(config);
    const auto call = pool.execute(request("endless"));
    pool.advance(2h, 500ms);
    BOOST_TEST(!call->done);
}

BOOST_AUTO_TEST_CASE(an_endless_timeout_does_not_overflow) {
    running_pool pool(fake_config());
    const auto call =
        pool.execute(request("endless").timeout(duration::max()).queue_timeout(duration::max()));
    pool.advance(1h, 500ms);
    BOOST_TEST(!call->done);
}

BOOST_AUTO_TEST_CASE(a_call_that_is_answered_in_time_has_no_deadline_any_more) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("quick").timeout(1s));
    pool.serve();
    pool.advance(10s);
    BOOST_TEST(call->value.has_value());
    BOOST_TEST(pool.counters().timeouts == 0u);
    BOOST_TEST(pool.counters().failed == 0u);
    BOOST_TEST(pool.launched() == 1u);
}

BOOST_AUTO_TEST_CASE(an_answer_that_meets_the_deadline_completes_the_call_once) {
    for (int handlers = 0; handlers < 30; ++handlers) {
        running_pool pool(fake_config());
        const auto call = pool.execute(request("x").timeout(1s));
        pool.advance(990ms);
        pool.worker(0).answer_call();
        pool.time.advance(10ms);
        pool.context.restart();
        for (int i = 0; i < handlers; ++i) {
            pool.context.poll_one();
        }
        pool.settle();
        BOOST_TEST(call->done);
        BOOST_TEST(call->value.has_value() != (call->code() == errc::timeout));
        const auto counters = pool.counters();
        BOOST_TEST(counters.succeeded + counters.failed == 1u);
        BOOST_TEST(counters.late_answers == counters.failed);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(announced)

BOOST_AUTO_TEST_CASE(the_worker_is_told_how_long_it_has) {
    running_pool pool(fake_config());
    pool.execute(request("x").timeout(1500ms));
    BOOST_TEST(announced_ms(pool.worker(0)) == 1500);
}

BOOST_AUTO_TEST_CASE(the_pools_timeout_is_announced_too) {
    running_pool pool(fake_config());
    pool.execute(request("x"));
    BOOST_TEST(announced_ms(pool.worker(0)) == 60'000);
}

BOOST_AUTO_TEST_CASE(the_wait_in_the_queue_is_taken_off) {
    running_pool pool(fake_config());
    pool.execute(request("busy"));
    pool.execute(request("x").timeout(10s));
    pool.advance(3s);
    pool.serve();
    BOOST_TEST(announced_ms(pool.worker(0)) == 7000);
}

BOOST_AUTO_TEST_CASE(a_lost_attempt_is_taken_off) {
    running_pool pool(fake_config(2));
    pool.execute(request("x").timeout(10s).idempotent(true));
    pool.advance(4s);
    pool.worker(0).exit(exit_status::exited(1));
    pool.settle();
    BOOST_TEST(announced_ms(pool.worker(1)) == 6000);
}

BOOST_AUTO_TEST_CASE(nothing_is_announced_where_there_is_no_limit) {
    running_pool pool(fake_config());
    pool.execute(request("x").timeout(0s));
    BOOST_TEST(announced_ms(pool.worker(0)) == -1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(overrun)

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
    pool.settle();
    BOOST_TEST(pool.serve() == "next");
    BOOST_TEST(next->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_late_answer_is_dropped_and_counted_and_the_worker_goes_on) {
    running_pool pool(fake_config());
    const auto slow = pool.execute(request("slow").timeout(1s));
    const auto id = pool.worker(0).take_call();
    pool.advance(2500ms);
    pool.worker(0).reply(id, "too late");
    pool.settle();
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
    pool.worker(0).fail(id, "Cancelled", "as told");
    pool.settle();
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
    pool.settle();
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(a_worker_that_does_not_let_go_is_replaced_after_the_grace) {
    running_pool pool(fake_config());
    do_useful_work(pool);
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

BOOST_AUTO_TEST_CASE(the_replacement_does_not_wait_for_the_old_one_to_end) {
    running_pool pool(fake_config());
    do_useful_work(pool);
    pool.worker(0).obeys_terminate = false;
    pool.execute(request("slow").timeout(1s));
    pool.advance(3s);
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(!pool.worker(0).has_exited());
    const auto next = pool.execute(request("next"));
    pool.serve(1);
    BOOST_TEST(next->value.has_value());
    pool.advance(2s); // stop.grace
    BOOST_TEST(pool.worker(0).has_exited());
    BOOST_TEST(pool.status().workers.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_grace_of_zero_replaces_at_once) {
    auto config = fake_config();
    config.cancel_grace = 0s;
    running_pool pool(config);
    do_useful_work(pool);
    pool.execute(request("slow").timeout(1s));
    pool.advance(1s);
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(pool.launched() == 2u);
}

BOOST_AUTO_TEST_CASE(an_answer_that_comes_while_the_worker_is_stopped_does_no_harm) {
    running_pool pool(fake_config());
    do_useful_work(pool);
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
    do_useful_work(pool);
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
    do_useful_work(pool);
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
    pool.settle();
    BOOST_REQUIRE(other->value);
    BOOST_TEST(other->value->value == "fine");
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(it_takes_no_more_calls) {
    running_pool pool(room_for_two());
    do_useful_work(pool);
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
    do_useful_work(pool);
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
    do_useful_work(pool);
    pool.execute(request("slow").timeout(1s));
    const auto other = pool.execute(request("other"));
    pool.advance(3s);
    pool.worker(0).answers_pings = false;
    pool.advance(16s);
    BOOST_TEST(other->code() == errc::worker_lost);
    BOOST_TEST(other->text().find("ping") != std::string::npos, other->text());
}

BOOST_AUTO_TEST_CASE(its_last_answer_does_not_take_its_replacement_out_of_rotation) {
    running_pool pool(room_for_two());
    do_useful_work(pool);
    pool.execute(request("slow").timeout(1s));
    pool.execute(request("other"));
    const auto calls = pool.worker(0).take_calls();
    pool.advance(3s);
    pool.worker(0).reply(id_of(calls[1]));
    pool.settle();
    pool.execute(request("next"));
    BOOST_TEST(pool.worker(1).take_calls().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_late_answer_after_the_grace_does_not_save_it) {
    running_pool pool(room_for_two());
    do_useful_work(pool);
    pool.execute(request("slow").timeout(1s));
    const auto other = pool.execute(request("other"));
    const auto calls = pool.worker(0).take_calls();
    pool.advance(4s);
    pool.worker(0).reply(id_of(calls[0]));
    pool.settle();
    BOOST_TEST(pool.worker(0).terminations == 0);
    BOOST_TEST(pool.counters().late_answers == 1u);
    pool.worker(0).reply(id_of(calls[1]));
    pool.settle();
    BOOST_TEST(other->value.has_value());
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(it_is_stopped_when_the_other_call_is_given_up_too) {
    running_pool pool(room_for_two());
    do_useful_work(pool);
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

/// Calls sent ahead to a worker that is at capacity.
BOOST_AUTO_TEST_SUITE(sent_ahead)

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
    const auto ahead = pool.execute(request("ahead").timeout(1s));
    const auto calls = pool.worker(0).take_calls();
    BOOST_REQUIRE_EQUAL(calls.size(), 2u);
    pool.advance(10s);
    BOOST_TEST(ahead->code() == errc::timeout);
    BOOST_TEST(pool.worker(0).terminations == 0);
    const auto told = cancelled_ids(pool.worker(0));
    BOOST_TEST(told == std::vector{id_of(calls[1])}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(its_grace_begins_when_its_turn_comes) {
    running_pool pool(with_pipeline(1));
    pool.execute(request("long"));
    pool.execute(request("ahead").timeout(1s));
    const auto calls = pool.worker(0).take_calls();
    pool.advance(10s);
    pool.worker(0).reply(id_of(calls[0]));
    pool.settle();
    pool.advance(1990ms);
    BOOST_TEST(pool.worker(0).terminations == 0);
    pool.advance(10ms);
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(one_that_cannot_have_begun_is_sent_again_though_not_idempotent) {
    running_pool pool(with_pipeline(1));
    do_useful_work(pool);
    const auto begun = pool.execute(request("begun"));
    const auto ahead = pool.execute(request("ahead"));
    pool.worker(0).exit(exit_status::exited(1));
    pool.settle();
    BOOST_TEST(begun->code() == errc::worker_lost);
    BOOST_TEST(!ahead->done);
    BOOST_TEST(pool.serve(1) == "ahead");
    BOOST_REQUIRE(ahead->value);
    BOOST_TEST(ahead->value->attempts == 1);
}

BOOST_AUTO_TEST_CASE(one_behind_a_call_that_will_not_end_moves_to_another_worker) {
    running_pool pool(with_pipeline(1));
    do_useful_work(pool);
    const auto stuck = pool.execute(request("stuck").timeout(1s));
    const auto ahead = pool.execute(request("ahead"));
    pool.advance(3s);
    BOOST_TEST(stuck->code() == errc::timeout);
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(pool.serve(1) == "ahead");
    BOOST_TEST(ahead->value.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
