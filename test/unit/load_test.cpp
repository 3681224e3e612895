// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// pool::load(), on virtual time. manual_pool::status() compares it with the status in every other test.

#include "support/load_of.hpp"
#include "support/probed_pool.hpp"
#include <skep/lease.hpp>
#include <skep/testing.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

constexpr const char* none = "0 in flight, 0 queued, 0 places, serves nobody";

pool_config config_with(std::size_t capacity, std::size_t workers) {
    auto config = quiet_config();
    config.workers = workers;
    config.capacity = capacity;
    return config;
}

/// Takes the status as well, which compares the two.
std::string load_text(manual_pool& pool) {
    pool.status();
    return text_of_load(pool.facade().load());
}

} // namespace

BOOST_AUTO_TEST_SUITE(load)

BOOST_AUTO_TEST_CASE(a_pool_has_none_before_its_start_and_after_its_shutdown) {
    manual_pool pool(config_with(3, 2));
    BOOST_TEST(load_text(pool) == none);
    const auto started = pool.start();
    BOOST_REQUIRE(started->value);
    BOOST_TEST(load_text(pool) == "0 in flight, 0 queued, 6 places, serves");
    const auto down = pool.shutdown();
    pool.advance(5s, 100ms);
    BOOST_REQUIRE(down->value);
    BOOST_TEST(load_text(pool) == none);
}

BOOST_AUTO_TEST_CASE(a_pool_that_starts_has_calls_that_wait) {
    manual_pool pool(config_with(1, 2));
    pool.runtime().on_start = never_ready;
    const auto started = pool.start();
    pool.execute(request("early"));
    BOOST_TEST(load_text(pool) == "0 in flight, 1 queued, 0 places, serves nobody");
    pool.worker(1).shake_hands();
    pool.run_until_idle();
    BOOST_TEST(load_text(pool) == "1 in flight, 0 queued, 1 places, serves");
}

BOOST_AUTO_TEST_CASE(calls_and_checkouts_count_from_their_beginning_to_their_end) {
    running_pool pool(config_with(1, 1));
    const auto first = pool.execute(request("first"));
    BOOST_TEST(load_text(pool) == "1 in flight, 0 queued, 1 places, serves");
    const auto checked_out = pool.checkout();
    const auto last = pool.execute(request("last"));
    BOOST_TEST(load_text(pool) == "1 in flight, 2 queued, 1 places, serves");
    pool.serve();
    BOOST_REQUIRE(checked_out->value.has_value());
    BOOST_TEST(load_text(pool) == "0 in flight, 1 queued, 1 places, serves");
    *checked_out->value = lease();
    pool.run_until_idle();
    BOOST_TEST(load_text(pool) == "1 in flight, 0 queued, 1 places, serves");
    pool.serve();
    BOOST_TEST(load_text(pool) == "0 in flight, 0 queued, 1 places, serves");
}

BOOST_AUTO_TEST_CASE(calls_that_wait_for_a_place_of_their_lease_are_queued) {
    running_pool pool(config_with(1, 1));
    auto checked_out = pool.checkout();
    BOOST_REQUIRE(checked_out->value.has_value());
    pool.execute(*checked_out->value, request("one"));
    pool.execute(*checked_out->value, request("two"));
    BOOST_TEST(load_text(pool) == "1 in flight, 1 queued, 1 places, serves");
}

BOOST_AUTO_TEST_CASE(calls_that_wait_for_their_retry_are_queued) {
    auto config = config_with(1, 2);
    config.retry.backoff = {10s};
    running_pool pool(config);
    pool.execute(request("work").idempotent(true));
    const auto lost = pool.worker(0).take_calls().empty() ? 1u : 0u;
    pool.runtime().on_start = never_ready;
    crash_worker(pool, lost);
    BOOST_TEST(load_text(pool) == "0 in flight, 1 queued, 1 places, serves");
}

BOOST_AUTO_TEST_CASE(suspended_workers_have_no_places_and_a_suspended_pool_serves_nobody) {
    running_pool pool(config_with(2, 2));
    const auto id = pool.worker_status_of(0).id;
    pool.begin(pool.facade().suspend(id));
    BOOST_TEST(load_text(pool) == "0 in flight, 0 queued, 2 places, serves");
    pool.begin(pool.facade().resume(id));
    BOOST_TEST(load_text(pool) == "0 in flight, 0 queued, 4 places, serves");
    pool.execute(request("work"));
    pool.begin(pool.facade().suspend()); // its worker is not drained
    BOOST_TEST(load_text(pool) == "1 in flight, 0 queued, 2 places, serves nobody");
    pool.begin(pool.facade().resume());
    BOOST_TEST(load_text(pool) == "1 in flight, 0 queued, 4 places, serves");
}

BOOST_AUTO_TEST_CASE(a_degraded_worker_has_no_places_until_it_is_restored) {
    probed_pool pool(config_with(1, 1));
    pool.advance(30s, 1s);
    pool.fail(pool.take_probe());
    BOOST_TEST(load_text(pool) == none);
    pool.advance(5s, 1s);
    pool.pass(pool.take_probe());
    BOOST_TEST(load_text(pool) == "0 in flight, 0 queued, 1 places, serves");
}

BOOST_AUTO_TEST_CASE(a_leaving_worker_has_no_places) {
    running_pool pool(config_with(1, 2));
    pool.execute(request("one"));
    pool.execute(request("two"));
    pool.begin(pool.facade().resize(size_limits(1, 1)));
    BOOST_TEST(load_text(pool) == "2 in flight, 0 queued, 1 places, serves");
    pool.shutdown();
    BOOST_TEST(load_text(pool) == "2 in flight, 0 queued, 1 places, serves nobody");
}

BOOST_AUTO_TEST_CASE(a_pool_of_test_doubles_has_a_load) {
    asio::io_context context;
    testing::virtual_time time(context);
    testing::fake_pool fake(context.get_executor(), config_with(1, 2));
    BOOST_TEST(text_of_load(fake.pool().load()) == none);
    time.run(fake.pool().start());
    BOOST_TEST(text_of_load(fake.pool().load()) == "0 in flight, 0 queued, 2 places, serves");
    time.run(fake.pool().shutdown());
    BOOST_TEST(text_of_load(fake.pool().load()) == none);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
