// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a worker is told about the one before it in its slot.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <string>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(handover)

namespace {

/// What the welcome of the worker that was started as number `index` says; empty if nothing.
std::string previous_exit(manual_pool& pool, std::size_t index) {
    const auto welcomes = pool.worker(index).take_controls("welcome");
    BOOST_REQUIRE_EQUAL(welcomes.size(), 1u);
    const auto* const said = welcomes[0].if_contains("previous_exit");
    return said == nullptr ? "" : std::string(said->as_string());
}

pool_config recycling_config() {
    auto config = fake_config();
    config.recycle.calls = 1;
    return config;
}

/// Its one worker is due to be recycled: the first that was to succeed it has failed, the second takes its
/// time.
class pool_at_its_second_successor : public running_pool {
public:
    pool_at_its_second_successor() : running_pool(recycling_config()) {
        runtime().on_start = [](fake_worker& fresh) { fresh.exit(exit_status::exited(3)); };
        warm_up();
        runtime().on_start = never_ready;
        advance(1s);
        BOOST_REQUIRE_EQUAL(launched(), 3u);
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(the_first_of_a_slot_is_told_nothing) {
    running_pool pool(fake_config(2));
    BOOST_TEST(previous_exit(pool, 0).empty());
    BOOST_TEST(previous_exit(pool, 1).empty());
}

BOOST_AUTO_TEST_CASE(the_next_is_told_how_it_ended) {
    running_pool pool(fake_config());
    pool.worker(0).exit(exit_status::signalled(SIGSEGV));
    pool.advance(1s);
    BOOST_REQUIRE_EQUAL(pool.launched(), 2u);
    BOOST_TEST(previous_exit(pool, 1) == "segfault");
}

BOOST_AUTO_TEST_CASE(even_if_it_was_started_before_that_was_known) {
    running_pool pool(fake_config());
    pool.runtime().on_start = never_ready;
    pool.worker(0).obeys_terminate = false;
    pool.worker(0).close_data();
    pool.advance(200ms);
    BOOST_REQUIRE_EQUAL(pool.launched(), 2u);
    pool.worker(0).exit(exit_status::signalled(SIGSEGV));
    pool.run_until_idle();
    pool.worker(1).shake_hands();
    pool.run_until_idle();
    BOOST_TEST(previous_exit(pool, 1) == "segfault");
}

BOOST_AUTO_TEST_CASE(a_launch_that_failed_is_no_worker_before_it) {
    running_pool pool(fake_config());
    int starts = 0;
    pool.runtime().on_start = [&starts](fake_worker& fresh) {
        if (++starts == 1) {
            throw error(errc::spawn_failed, {});
        }
        fresh.shake_hands();
    };
    pool.worker(0).exit(exit_status::signalled(SIGSEGV));
    pool.advance(2s);
    BOOST_TEST(starts == 2);
    BOOST_TEST(previous_exit(pool, pool.launched() - 1) == "segfault");
}

BOOST_AUTO_TEST_CASE(of_several_the_one_right_before_counts) {
    running_pool pool(fake_config());
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.exit(exit_status::exited(3)); };
    pool.worker(0).exit(exit_status::signalled(SIGSEGV));
    pool.advance(150ms);
    BOOST_REQUIRE_EQUAL(pool.launched(), 2u);
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.shake_hands(); };
    pool.advance(1s);
    BOOST_REQUIRE_EQUAL(pool.launched(), 3u);
    BOOST_TEST(previous_exit(pool, 2) == "error");
}

BOOST_AUTO_TEST_CASE(one_that_is_still_there_is_not_waited_for) {
    running_pool pool(fake_config());
    pool.worker(0).obeys_terminate = false;
    pool.worker(0).close_data();
    pool.advance(500ms);
    BOOST_REQUIRE_EQUAL(pool.launched(), 2u);
    BOOST_TEST(!pool.worker(0).has_exited());
    BOOST_TEST(previous_exit(pool, 1).empty());
    pool.advance(10s);
    BOOST_TEST(pool.worker(1).take_controls("welcome").empty());
}

BOOST_AUTO_TEST_CASE(a_recycled_one_is_still_at_work) {
    running_pool pool(recycling_config());
    pool.warm_up();
    pool.advance(1s);
    BOOST_REQUIRE_EQUAL(pool.launched(), 2u);
    BOOST_TEST(previous_exit(pool, 1).empty());
}

BOOST_AUTO_TEST_CASE(nor_is_one_that_was_to_succeed_a_worker_still_at_work) {
    pool_at_its_second_successor pool;
    pool.worker(2).shake_hands();
    pool.run_until_idle();
    BOOST_TEST(previous_exit(pool, 2).empty());
}

BOOST_AUTO_TEST_CASE(one_that_takes_over_early_is_told_of_the_one_it_was_to_succeed) {
    pool_at_its_second_successor pool;
    pool.worker(0).exit(exit_status::signalled(SIGSEGV));
    pool.run_until_idle();
    pool.worker(2).shake_hands();
    pool.run_until_idle();
    BOOST_TEST(previous_exit(pool, 2) == "segfault");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
