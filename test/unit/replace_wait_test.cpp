// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What is seen of workers that are to be replaced and cannot leave yet.

#include "support/fake_runtime.hpp"
#include "support/log_capture.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/test/unit_test.hpp>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(waiting_to_be_replaced)

namespace {

pool_config told(std::size_t workers) {
    auto config = fake_config(workers);
    config.affinity.mode = affinity_mode::strict_queue;
    config.log_level = log_level::info;
    config.log_handler = capturing_handler();
    return config;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_rolling_restart_says_which_worker_it_waits_for_and_why) {
    const log_capture log;
    running_pool pool(told(1));
    pool.execute(request("x").session("s"));
    BOOST_TEST(pool.serve(0) == "x");
    BOOST_TEST(pool.worker_status_of(0).waits_to_leave.empty());
    const auto restart = pool.begin(pool.facade().rolling_restart());
    pool.advance(20s, 100ms);
    BOOST_TEST(!restart->done);
    BOOST_TEST(pool.worker_status_of(0).waits_to_leave == "rolling restart");
    const auto* const line =
        "default/0#1 waits to be replaced (rolling restart): sessions are strictly bound to it";
    BOOST_TEST(log.count(line) == 1, log.text());
    asio::co_spawn(pool.context, pool.facade().forget_session("s"), [](const std::exception_ptr&, bool) {});
    pool.advance(10s, 100ms);
    BOOST_TEST(restart->value.has_value());
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(pool.worker_status_of(0).waits_to_leave.empty());
    BOOST_TEST(log.count("waits to be replaced") == 1);
}

BOOST_AUTO_TEST_CASE(so_does_one_that_waits_for_a_lease) {
    const log_capture log;
    running_pool pool(told(1));
    const auto lease = pool.checkout();
    BOOST_REQUIRE(lease->value);
    pool.begin(pool.facade().rolling_restart());
    pool.advance(1s, 100ms);
    BOOST_TEST(pool.worker_status_of(0).waits_to_leave == "rolling restart");
    BOOST_TEST(log.count("waits to be replaced (rolling restart): it is leased") == 1, log.text());
}

BOOST_AUTO_TEST_CASE(one_that_is_replaced_at_once_is_not_spoken_of) {
    const log_capture log;
    running_pool pool(told(2));
    const auto restart = pool.begin(pool.facade().rolling_restart());
    pool.advance(10s, 100ms);
    BOOST_TEST(restart->value.has_value());
    BOOST_TEST(log.count("waits to be replaced") == 0);
}

BOOST_AUTO_TEST_CASE(one_that_only_waits_for_its_turn_is_not_held) {
    running_pool pool(told(2));
    pool.runtime().on_start = never_ready;
    const auto restart = pool.begin(pool.facade().rolling_restart());
    pool.advance(100ms, 10ms);
    BOOST_TEST(!restart->done);
    BOOST_TEST(pool.launched() == 3u);
    BOOST_TEST(pool.worker_status_of(0).waits_to_leave.empty());
    BOOST_TEST(pool.worker_status_of(1).waits_to_leave.empty());
}

BOOST_AUTO_TEST_CASE(one_whose_restart_was_broken_off_is_not_said_to_wait_for_its_lease) {
    running_pool pool(told(1));
    pool.runtime().on_start = [](fake_worker& successor) { successor.exit(exit_3); };
    const auto restart = pool.begin(pool.facade().rolling_restart());
    pool.advance(1s, 100ms);
    BOOST_TEST(restart->code() == errc::restart_failed);
    const auto lease = pool.checkout();
    BOOST_REQUIRE(lease->value);
    BOOST_TEST(pool.worker_status_of(0).waits_to_leave.empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
