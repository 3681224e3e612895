// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// suspend(), resume() and resize(), on virtual time.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

std::size_t count(manual_pool& pool, worker_state state) {
    const auto all = pool.status().workers;
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const auto& each) { return each.state == state; }));
}

} // namespace

BOOST_AUTO_TEST_SUITE(suspension)

BOOST_AUTO_TEST_CASE(a_suspended_worker_is_drained_and_takes_no_work) {
    running_pool pool(fake_config());
    const auto id = pool.worker_status_of(0).id;
    const auto call = pool.execute(request("first"));
    const auto suspended = pool.begin(pool.facade().suspend(id));
    const auto waiting = pool.execute(request("second"));
    BOOST_TEST(!suspended->done);
    BOOST_TEST(pool.serve() == "first");
    BOOST_TEST(call->value.has_value());
    BOOST_TEST(suspended->value.has_value());
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::suspended));
    BOOST_TEST(pool.status().queued == 1u);
    const auto resumed = pool.begin(pool.facade().resume(id));
    BOOST_TEST(resumed->value.has_value());
    BOOST_TEST(pool.serve() == "second");
    BOOST_TEST(waiting->value.has_value());
    BOOST_TEST(pool.launched() == 1u); // with all its memory
}

BOOST_AUTO_TEST_CASE(both_are_idempotent) {
    running_pool pool(fake_config());
    const auto id = pool.worker_status_of(0).id;
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST(pool.begin(pool.facade().suspend(id))->value.has_value());
        BOOST_TEST((pool.worker_status_of(0).state == worker_state::suspended));
    }
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST(pool.begin(pool.facade().resume(id))->value.has_value());
        BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
    }
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST(pool.begin(pool.facade().suspend())->value.has_value());
        BOOST_TEST(pool.status().suspended);
    }
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST(pool.begin(pool.facade().resume())->value.has_value());
        BOOST_TEST(!pool.status().suspended);
    }
}

BOOST_AUTO_TEST_CASE(calls_wait_in_a_suspended_pool_within_their_own_limits) {
    running_pool pool(fake_config(2));
    BOOST_TEST(pool.begin(pool.facade().suspend())->value.has_value());
    BOOST_TEST(count(pool, worker_state::suspended) == 2u);
    const auto patient = pool.execute(request("patient").queue_timeout(1min));
    const auto hasty = pool.execute(request("hasty").timeout(1s));
    const auto usual = pool.execute(request("usual"));
    pool.advance(1s);
    BOOST_TEST(hasty->code() == errc::timeout);
    pool.advance(4s);
    BOOST_TEST(usual->code() == errc::queue_timeout);
    pool.advance(30s, 1s);
    BOOST_TEST(!patient->done);
    BOOST_TEST(pool.begin(pool.facade().resume())->value.has_value());
    BOOST_TEST(!pool.worker(0).take_calls().empty() + !pool.worker(1).take_calls().empty() == 1);
}

BOOST_AUTO_TEST_CASE(a_worker_that_comes_up_in_a_suspended_pool_is_suspended) {
    running_pool pool(fake_config());
    pool.begin(pool.facade().suspend());
    pool.worker(0).exit(exit_status::signalled(SIGKILL));
    pool.advance(2s);
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::suspended));
    const auto call = pool.execute(request("work"));
    BOOST_TEST(pool.worker(1).take_calls().empty());
    pool.begin(pool.facade().resume());
    BOOST_TEST(pool.serve(1) == "work");
    BOOST_TEST(call->value.has_value());
}

BOOST_AUTO_TEST_CASE(one_that_dies_before_it_is_drained_ends_the_wait) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("work"));
    const auto suspended = pool.begin(pool.facade().suspend(pool.worker_status_of(0).id));
    pool.worker(0).exit(exit_status::signalled(SIGKILL));
    pool.advance(1s);
    BOOST_TEST(suspended->code() == errc::unknown_worker);
    BOOST_TEST(call->code() == errc::worker_lost);
}

BOOST_AUTO_TEST_CASE(resume_ends_a_suspension_that_is_not_done_yet) {
    running_pool pool(fake_config());
    const auto id = pool.worker_status_of(0).id;
    const auto call = pool.execute(request("work"));
    const auto suspended = pool.begin(pool.facade().suspend(id));
    pool.begin(pool.facade().resume(id));
    BOOST_TEST(suspended->done);
    BOOST_TEST(pool.serve() == "work");
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::ready));
}

BOOST_AUTO_TEST_CASE(shutdown_while_suspended_works) {
    running_pool pool(fake_config(2));
    pool.begin(pool.facade().suspend());
    const auto report = pool.shutdown();
    pool.advance(5s);
    BOOST_REQUIRE(report->value);
    BOOST_TEST(report->value->workers.size() == 2u);
}

BOOST_AUTO_TEST_CASE(shutdown_does_not_wait_for_calls_that_suspended_workers_will_not_take) {
    running_pool pool(fake_config(2));
    const auto running = pool.execute(request("running"));
    pool.begin(pool.facade().suspend());
    const auto waiting = pool.execute(request("waiting").queue_timeout(1h));
    const auto report = pool.shutdown();
    BOOST_TEST(waiting->code() == errc::shutting_down);
    BOOST_TEST(!running->done); // it may finish
    BOOST_TEST(pool.serve() == "running");
    BOOST_TEST(running->value.has_value());
    pool.advance(5s);
    BOOST_REQUIRE(report->value);
    BOOST_TEST(report->value->calls_aborted == 1u);
    BOOST_TEST(report->value->calls_drained == 1u);
}

BOOST_AUTO_TEST_CASE(nor_for_calls_that_nobody_is_left_to_take) {
    auto config = fake_config();
    config.stop.drain_timeout = 1h;
    running_pool pool(config);
    const auto running = pool.execute(request("running").idempotent(true));
    const auto waiting = pool.execute(request("waiting").queue_timeout(1h));
    const auto report = pool.shutdown();
    BOOST_TEST(!waiting->done);
    pool.worker(0).exit(exit_status::signalled(SIGKILL));
    pool.advance(2s);
    BOOST_TEST(running->code() == errc::shutting_down);
    BOOST_TEST(waiting->code() == errc::shutting_down);
    BOOST_REQUIRE(report->value);
    BOOST_TEST(report->value->calls_aborted == 2u);
}

BOOST_AUTO_TEST_CASE(but_for_calls_that_the_next_worker_will_take) {
    auto config = fake_config();
    config.stop.drain_timeout = 1h;
    running_pool pool(config);
    pool.runtime().on_start = [](fake_worker&) {}; // takes its time
    const auto id = pool.worker_status_of(0).id;
    pool.begin(pool.facade().suspend(id));
    pool.begin(pool.facade().restart(id));
    BOOST_REQUIRE_EQUAL(pool.launched(), 2u);
    const auto waiting = pool.execute(request("waiting").queue_timeout(1h));
    const auto report = pool.shutdown();
    BOOST_TEST(!waiting->done);
    pool.worker(1).shake_hands();
    pool.run_until_idle();
    BOOST_TEST(pool.serve(1) == "waiting");
    BOOST_TEST(waiting->value.has_value());
    pool.advance(5s);
    BOOST_TEST(report->value.has_value());
}

BOOST_AUTO_TEST_CASE(pings_go_on_and_recycling_by_age_waits) {
    auto config = fake_config();
    config.recycle.age = 1min;
    running_pool pool(config);
    pool.begin(pool.facade().suspend());
    pool.advance(5min, 1s);
    BOOST_TEST(pool.launched() == 1u);
    pool.begin(pool.facade().resume());
    pool.advance(3s);
    BOOST_TEST(pool.launched() == 2u);
    pool.begin(pool.facade().suspend());
    pool.worker(1).answers_pings = false;
    pool.advance(1min, 1s);
    BOOST_TEST(pool.launched() >= 3u); // a frozen one is replaced, suspended or not
}

BOOST_AUTO_TEST_CASE(errors_name_the_worker_or_the_phase) {
    manual_pool created(fake_config());
    BOOST_TEST(created.begin(created.facade().suspend())->code() == errc::not_started);
    BOOST_TEST(created.begin(created.facade().resume())->code() == errc::not_started);
    BOOST_TEST(created.begin(created.facade().rolling_restart())->code() == errc::not_started);
    BOOST_TEST(created.begin(created.facade().resize(size_limits(1)))->code() == errc::not_started);
    created.start();
    const auto nobody = created.begin(created.facade().suspend({"default", 0, 9}));
    BOOST_TEST(nobody->code() == errc::unknown_worker);
    check_mentions(nobody->text(), "default/0#9");
    BOOST_TEST(created.begin(created.facade().resume({"other", 0, 1}))->code() == errc::unknown_worker);
    BOOST_TEST(created.begin(created.facade().suspend({"default", 7, 1}))->code() == errc::unknown_worker);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(resizing)

BOOST_AUTO_TEST_CASE(up_and_down_at_once) {
    running_pool pool(fake_config(2));
    BOOST_TEST(pool.begin(pool.facade().resize(size_limits(5)))->value.has_value());
    pool.run_until_idle();
    BOOST_TEST(pool.launched() == 5u);
    BOOST_TEST(pool.status().live == 5u);
    BOOST_TEST(pool.begin(pool.facade().resize(size_limits(1)))->value.has_value());
    pool.advance(3s, 100ms);
    BOOST_TEST(pool.status().workers.size() == 1u);
    BOOST_TEST(pool.counters().workers_removed == 4u);
    BOOST_TEST(pool.counters().workers_lost == 0u);
    pool.begin(pool.facade().resize(size_limits(3)));
    pool.advance(1s);
    BOOST_TEST(pool.status().live == 3u);
}

BOOST_AUTO_TEST_CASE(calls_in_flight_on_those_that_are_too_many_finish) {
    running_pool pool(fake_config(2));
    const auto one = pool.execute(request("one"));
    const auto two = pool.execute(request("two"));
    pool.begin(pool.facade().resize(size_limits(1)));
    pool.advance(2s);
    BOOST_TEST(pool.status().live == 1u);
    BOOST_TEST(pool.status().retiring == 1u);
    pool.serve(0);
    pool.serve(1);
    pool.advance(2s);
    BOOST_TEST(one->value.has_value());
    BOOST_TEST(two->value.has_value());
    BOOST_TEST(pool.status().workers.size() == 1u);
}

BOOST_AUTO_TEST_CASE(bad_limits_are_refused_by_name) {
    running_pool pool(fake_config());
    const auto none = pool.begin(pool.facade().resize(size_limits(0, 3)));
    BOOST_TEST(none->code() == errc::invalid_config);
    check_mentions(none->text(), "limits.min = 0: must be 1..10000");
    const auto crossed = pool.begin(pool.facade().resize(size_limits(3, 2)));
    check_mentions(crossed->text(), "limits.max = 2: must be 3..10000");
    const auto many = pool.begin(pool.facade().resize(size_limits(1, 10'001)));
    check_mentions(many->text(), "limits.max = 10001");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
