// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

/// The time that the worker is told it has for its one call, in milliseconds; -1 if it is told nothing.
int announced_ms(fake_worker& worker) {
    const auto calls = worker.take_calls();
    BOOST_REQUIRE_EQUAL(calls.size(), 1u);
    const auto* const time_left = calls[0].if_contains("deadline_ms");
    return time_left == nullptr ? -1 : time_left->to_number<int>();
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

/// One whose time is over while its worker's answer is on its way, and which the pool has not looked at
/// since.
struct overdue_call {
    overdue_call() { pool.time.advance(3s); }

    errc end() {
        pool.run_until_idle();
        BOOST_TEST(pool.counters().timeouts == (call->code() == errc::timeout ? 1u : 0u));
        return call->code();
    }

    running_pool pool{fake_config()};
    std::shared_ptr<running_pool::outcome<reply>> call = pool.execute(request("slow").timeout(3s));
    std::uint64_t id = pool.worker(0).take_call();
};

BOOST_FIXTURE_TEST_CASE(a_worker_that_gives_up_in_that_moment_does_so_for_want_of_time, overdue_call) {
    pool.worker(0).fail(id, "TimeoutError", "no answer from the database");
    BOOST_TEST((end() == errc::timeout));
    BOOST_TEST(call->info().remote_type == "TimeoutError");
    check_mentions(call->text(), "no answer from the database");
}

BOOST_FIXTURE_TEST_CASE(what_is_the_callers_fault_is_so_in_that_moment_too, overdue_call) {
    pool.worker(0).refuse(id, "bad_image");
    BOOST_TEST((end() == errc::remote_error));
}

BOOST_FIXTURE_TEST_CASE(what_has_a_code_of_its_own_has_it_in_that_moment_too, overdue_call) {
    pool.worker(0).fail(id, "skep.UnknownCommand", "there is no 'slow'");
    BOOST_TEST((end() == errc::unknown_command));
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
    pool.advance(20min, 500ms);
    BOOST_TEST(!call->done);
    pool.serve();
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_pool_may_have_none) {
    auto config = fake_config();
    config.request_timeout = 0s;
    running_pool pool(config);
    const auto call = pool.execute(request("endless"));
    pool.advance(20min, 500ms);
    BOOST_TEST(!call->done);
}

BOOST_AUTO_TEST_CASE(an_endless_timeout_does_not_overflow) {
    running_pool pool(fake_config());
    const auto call =
        pool.execute(request("endless").timeout(duration::max()).queue_timeout(duration::max()));
    pool.advance(20min, 500ms);
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
        pool.run_until_idle();
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
    pool.run_until_idle();
    BOOST_TEST(announced_ms(pool.worker(1)) == 6000);
}

BOOST_AUTO_TEST_CASE(nothing_is_announced_where_there_is_no_limit) {
    running_pool pool(fake_config());
    pool.execute(request("x").timeout(0s));
    BOOST_TEST(announced_ms(pool.worker(0)) == -1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
