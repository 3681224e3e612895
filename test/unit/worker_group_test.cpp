// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a worker has started outlives it by a moment, and holds up nobody.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(worker_group)

namespace {

/// Its first worker has others in its group, who have its channels open and do not end with it.
class pool_with_company : public running_pool {
public:
    explicit pool_with_company(pool_config config = fake_config()) : running_pool(std::move(config)) {
        worker(0).has_company = true;
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(the_calls_of_a_worker_that_crashes_fail_and_its_slot_is_filled_at_once) {
    pool_with_company pool;
    pool.warm_up();
    const auto call = pool.execute(request("work"));
    crash_worker(pool, 0, exit_status::signalled(SIGSEGV));
    BOOST_TEST(call->code() == errc::worker_lost);
    check_mentions(call->text(), "signal 11");
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(pool.worker(0).has_company);
    pool.warm_up(1);
    pool.advance(199ms);
    BOOST_TEST(pool.worker(0).has_company);
    pool.advance(1ms);
    BOOST_TEST(!pool.worker(0).has_company);
    BOOST_TEST(pool.counters().workers_lost == 1u);
}

BOOST_AUTO_TEST_CASE(an_answer_that_was_sent_before_the_end_is_delivered) {
    pool_with_company pool;
    const auto call = pool.execute(request("work"));
    pool.worker(0).answer_call("done");
    crash_worker(pool, 0);
    BOOST_REQUIRE(call->value);
    BOOST_TEST(call->value->value == boost::json::value("done"));
}

BOOST_AUTO_TEST_CASE(a_shutdown_ends_with_the_group) {
    pool_with_company pool;
    const auto report = pool.shutdown();
    pool.worker(0).exit(exit_status::exited(0));
    pool.advance(199ms);
    BOOST_TEST(!report->done);
    pool.advance(1ms);
    BOOST_TEST(report->done);
    BOOST_TEST(!pool.worker(0).has_company);
}

BOOST_AUTO_TEST_CASE(or_sooner_if_the_group_ends_by_itself) {
    pool_with_company pool;
    const auto report = pool.shutdown();
    pool.worker(0).exit(exit_status::exited(0));
    pool.advance(10ms);
    BOOST_TEST(!report->done);
    pool.worker(0).end_company();
    pool.run_until_idle();
    BOOST_TEST(report->done);
}

BOOST_AUTO_TEST_CASE(a_worker_that_has_to_be_killed_leaves_its_group_a_moment_as_well) {
    pool_with_company pool;
    pool.worker(0).obeys_terminate = false;
    const auto report = pool.shutdown();
    pool.advance(3s, 100ms);
    BOOST_TEST(pool.worker(0).kills == 1);
    BOOST_TEST(pool.worker(0).has_company);
    BOOST_TEST(!report->done);
    pool.advance(200ms, 100ms);
    BOOST_TEST(report->done);
    BOOST_TEST(!pool.worker(0).has_company);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
