// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A pool of a pool_manager, whose start is tried again after it has failed, on virtual time.

#include "support/fake_runtime.hpp"
#include "support/in_a_child.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(starting_again)

namespace {

pool_config regular_backoff(std::size_t workers = 1) {
    auto config = fake_config(workers);
    config.restart.jitter = 0;
    config.restart.initial_backoff = 100ms;
    config.restart.max_backoff = 1s;
    return config;
}

/// One that fails to start until `heal()`.
class failing_pool : public manual_pool {
public:
    explicit failing_pool(pool_config config = regular_backoff(), bool starts_again = true)
        : manual_pool(std::move(config), membership(starts_again)) {
        runtime().on_start = [](fake_worker& fresh) { fresh.exit(exit_status::exited(7)); };
    }

    void heal() {
        runtime().on_start = [](fake_worker& fresh) { fresh.shake_hands(); };
    }

    /// When workers were launched, as multiples of `unit`, in so much time.
    std::vector<int> launches_within(duration span, duration unit) {
        std::vector<int> moments;
        for (duration passed{}; passed < span; passed += unit) {
            const auto before = launched();
            advance(unit, unit);
            moments.insert(moments.end(), launched() - before, static_cast<int>(passed / unit) + 1);
        }
        return moments;
    }

private:
    static pool_membership membership(bool starts_again) {
        pool_membership result;
        result.starts_again = starts_again;
        return result;
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(after_waits_that_double_up_to_the_longest) {
    failing_pool pool;
    const auto started = pool.start();
    BOOST_TEST(started->code() == errc::start_failed);
    BOOST_TEST(pool.launched() == 1u);
    const std::vector<int> expected{1, 3, 7, 15, 25, 35}; // after 1, 2, 4, 8, 10, 10 times 100 ms
    BOOST_TEST(pool.launches_within(3600ms, 100ms) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(meanwhile_its_calls_are_told_the_cause) {
    failing_pool pool;
    pool.start();
    pool.advance(50ms);
    const auto call = pool.execute(request("x"));
    BOOST_TEST(call->code() == errc::start_failed);
    check_mentions(call->text(), "exit code 7");
    check_mentions(call->text(), "it is tried again by itself");
}

BOOST_AUTO_TEST_CASE(a_call_that_comes_too_late_is_told_the_cause_as_well) {
    failing_pool pool;
    pool.start();
    const auto call = pool.execute(request("x").timeout(0s).deadline(clock::now() - 1s));
    BOOST_TEST(call->code() == errc::start_failed);
    check_mentions(call->text(), "exit code 7");
}

BOOST_AUTO_TEST_CASE(the_cause_may_be_a_worker_that_was_up_and_is_on_its_way_out) {
    auto config = regular_backoff(2);
    config.min_ready = 2;
    config.cancel_grace = 100ms;
    failing_pool pool(config);
    pool.runtime().on_start = [&pool](fake_worker& fresh) {
        if (pool.launched() == 1) {
            fresh.shake_hands();
        }
    };
    const auto started = pool.begin(pool.facade().start());
    pool.execute(request("x").timeout(10ms));
    pool.advance(200ms, 10ms); // it is overdue, and replaced
    const auto running = pool.execute(request("y"));
    pool.worker(1).shake_hands();
    pool.run_until_idle();
    BOOST_TEST(running->code() == errc::start_failed);
    BOOST_TEST((running->info().worker == pool.worker(0).order().worker)); // as of it is all that is told
    const auto call = pool.execute(request("x"));
    BOOST_TEST(call->code() == errc::start_failed);
    check_mentions(call->text(), "1 of 2 workers came up");
    check_mentions(call->text(), "it is still at a call given up");
    BOOST_TEST(!started->done);
}

BOOST_AUTO_TEST_CASE(not_while_a_start_by_the_user_is_being_undone) {
    auto config = regular_backoff(2);
    config.min_ready = 2;
    failing_pool pool(config);
    BOOST_TEST(pool.start()->code() == errc::start_failed); // the next one is planned in 100 ms
    const auto before = pool.launched();
    pool.runtime().on_start = [&pool, before](fake_worker& fresh) {
        if (pool.launched() == before + 1) {
            fresh.shake_hands();
        } else {
            fresh.exit(exit_status::exited(7));
        }
    };
    const auto second = pool.begin(pool.facade().start());
    pool.advance(300ms);
    BOOST_TEST(!second->done); // one worker takes its time to end
    BOOST_TEST(pool.launched() == before + 2);
}

BOOST_AUTO_TEST_CASE(then_it_serves_like_any_other) {
    failing_pool pool;
    pool.start();
    pool.heal();
    pool.advance(100ms);
    BOOST_TEST(to_string(pool.status().phase) == "running");
    const auto call = pool.execute(request("x"));
    BOOST_TEST(pool.serve(1) == "x");
    BOOST_TEST(call->value.has_value());
    BOOST_TEST(pool.launches_within(3s, 100ms).empty());
    BOOST_TEST(pool.start()->code() == errc::already_started);
}

BOOST_AUTO_TEST_CASE(ready_waits_for_the_start_that_succeeds) {
    failing_pool pool;
    BOOST_TEST(pool.begin(pool.facade().ready(1))->code() == errc::not_started);
    pool.start();
    const auto up = pool.begin(pool.facade().ready(1));
    pool.advance(1s);
    BOOST_TEST(!up->done);
    const auto late = pool.begin(pool.facade().ready(1));
    pool.heal();
    pool.advance(1s);
    BOOST_TEST(up->value.has_value());
    BOOST_TEST(late->value.has_value());
}

BOOST_AUTO_TEST_CASE(ready_ends_with_the_shutdown) {
    failing_pool pool;
    pool.start();
    const auto up = pool.begin(pool.facade().ready(1));
    const auto cancelled = pool.begin(pool.facade().ready(1));
    cancelled->cancel.emit(asio::cancellation_type::total);
    pool.run_until_idle();
    BOOST_TEST(cancelled->code() == errc::cancelled);
    const auto ended = pool.shutdown();
    BOOST_TEST(ended->value.has_value());
    BOOST_TEST(up->code() == errc::shutting_down);
    BOOST_TEST(pool.begin(pool.facade().ready(1))->code() == errc::shutting_down);
    const auto before = pool.launched();
    pool.advance(3s, 100ms);
    BOOST_TEST(pool.launched() == before);
    BOOST_TEST(pool.execute(request("x"))->code() == errc::shutting_down);
}

BOOST_AUTO_TEST_CASE(a_shutdown_while_it_is_tried_again) {
    failing_pool pool;
    pool.start();
    pool.runtime().on_start = never_ready;
    pool.advance(100ms);
    BOOST_TEST(to_string(pool.status().phase) == "starting");
    const auto ended = pool.shutdown();
    pool.advance(10s, 100ms);
    BOOST_TEST(ended->value.has_value());
    BOOST_TEST(pool.launched() == 2u);
}

BOOST_AUTO_TEST_CASE(the_users_own_start_goes_first) {
    failing_pool pool;
    pool.start();
    pool.heal();
    BOOST_TEST(pool.start()->value.has_value());
    BOOST_TEST(pool.launched() == 2u);
    BOOST_TEST(pool.launches_within(3s, 100ms).empty());
}

BOOST_AUTO_TEST_CASE(the_users_own_start_that_fails_leaves_one_plan) {
    failing_pool pool;
    pool.start();
    pool.advance(50ms);
    BOOST_TEST(pool.start()->code() == errc::start_failed);
    BOOST_TEST(pool.launched() == 2u);
    const std::vector<int> expected{4, 12}; // 200 and 400 ms later
    BOOST_TEST(pool.launches_within(700ms, 50ms) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_pool_by_itself_is_not_tried_again) {
    failing_pool pool(regular_backoff(), false);
    pool.start();
    const auto before = pool.launched();
    pool.advance(10s, 100ms);
    BOOST_TEST(pool.launched() == before);
    BOOST_TEST(pool.begin(pool.facade().ready(1))->code() == errc::start_failed);
}

BOOST_AUTO_TEST_CASE(a_forked_copy_of_the_process_does_not_go_on_with_the_plan) {
    failing_pool pool;
    pool.start();
    const int launched_in_copy = in_a_child([&pool] {
        pool.context.notify_fork(asio::io_context::fork_child);
        pool.advance(10s, 100ms);
        return static_cast<int>(pool.launched());
    });
    BOOST_TEST(launched_in_copy == 1);
    pool.advance(100ms);
    BOOST_TEST(pool.launched() == 2u); // in the process that has planned it
}

BOOST_AUTO_TEST_CASE(of_a_pool_that_is_destroyed_nothing_is_left) {
    failing_pool pool;
    pool.start();
    const auto before = pool.launched();
    pool.destroy_pool();
    BOOST_TEST(before == 1u);
    pool.run_until_idle(); // a start that is still planned would use what is gone
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
