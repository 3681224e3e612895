// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <functional>
#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

/// The moments at which workers were started, counted from `origin`.
class start_log {
public:
    start_log(manual_pool& pool, std::function<void(fake_worker&)> then) : origin_(clock::now()) {
        pool.runtime().on_start = [this, then = std::move(then)](fake_worker& fresh) {
            moments.push_back(clock::now() - origin_);
            then(fresh);
        };
    }

    /// From each start to the next, in milliseconds.
    std::vector<long> gaps() const {
        std::vector<long> result;
        auto last = duration::zero();
        for (const auto moment : moments) {
            result.push_back((moment - last) / 1ms);
            last = moment;
        }
        return result;
    }

    std::vector<duration> moments;

private:
    time_point origin_;
};

void exit_with_3(fake_worker& fresh) {
    fresh.exit(exit_3);
}

/// Every death is forgiven, so that only the start limit holds replacements back.
pool_config forgiving_config(std::size_t workers) {
    auto config = fake_config(workers);
    config.restart.stable_after = 0s;
    return config;
}

pool_config without_jitter(std::size_t workers = 1) {
    auto config = fake_config(workers);
    config.restart.jitter = 0;
    config.restart.limit = 1000;
    return config;
}

} // namespace

BOOST_AUTO_TEST_SUITE(replacement)

BOOST_AUTO_TEST_SUITE(backoff_of_a_slot)

BOOST_AUTO_TEST_CASE(it_doubles_while_nothing_comes_up) {
    running_pool pool(without_jitter());
    pool.warm_up();
    start_log log(pool, exit_with_3);
    crash_worker(pool, 0);
    pool.advance(13s);
    BOOST_TEST(log.gaps() == (std::vector<long>{0, 100, 200, 400, 800, 1600, 3200, 6400}),
               boost::test_tools::per_element());
    BOOST_TEST(pool.counters().start_failures == 8u);
}

BOOST_AUTO_TEST_CASE(it_is_capped) {
    auto config = without_jitter();
    config.restart.initial_backoff = 1s;
    config.restart.max_backoff = 3s;
    running_pool pool(config);
    pool.warm_up();
    start_log log(pool, exit_with_3);
    crash_worker(pool, 0);
    pool.advance(10s);
    BOOST_TEST(log.gaps() == (std::vector<long>{0, 1000, 2000, 3000, 3000}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(one_that_comes_up_but_does_no_work_does_not_end_it) {
    running_pool pool(without_jitter());
    start_log log(pool, [](fake_worker& fresh) { fresh.shake_hands(); });
    for (std::size_t i = 0; i < 5; ++i) {
        crash_worker(pool, i);
        pool.advance(5s);
        BOOST_REQUIRE_EQUAL(pool.launched(), i + 2);
    }
    std::vector<long> delays;
    for (std::size_t i = 0; i < log.moments.size(); ++i) {
        delays.push_back((log.moments[i] - i * 5s) / 1ms);
    }
    BOOST_TEST(delays == (std::vector<long>{100, 200, 400, 800, 1600}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(useful_work_ends_it) {
    running_pool pool(without_jitter());
    pool.warm_up();
    int failures_left = 4;
    start_log log(pool, [&failures_left](fake_worker& fresh) {
        if (--failures_left >= 0) {
            fresh.exit(exit_3);
        } else {
            fresh.shake_hands();
        }
    });
    crash_worker(pool, 0);
    pool.advance(2s);
    BOOST_REQUIRE_EQUAL(log.moments.size(), 5u);
    pool.warm_up(5);
    crash_worker(pool, 5);
    BOOST_TEST(log.moments.size() == 6u); // at once
    failures_left = 1;
    pool.warm_up(6);
    crash_worker(pool, 6);
    pool.advance(100ms);
    BOOST_TEST(log.moments.size() == 8u); // at once, fails, and again after the initial backoff
}

BOOST_AUTO_TEST_CASE(a_long_life_ends_it) {
    running_pool pool(without_jitter());
    start_log log(pool, [](fake_worker& fresh) { fresh.shake_hands(); });
    pool.advance(10s); // stable_after
    crash_worker(pool, 0);
    BOOST_TEST(log.moments.size() == 1u);
}

BOOST_AUTO_TEST_CASE(slots_do_not_wait_for_each_other) {
    running_pool pool(without_jitter(2));
    pool.execute(request("a"));
    pool.execute(request("b"));
    pool.serve(0);
    pool.serve(1);
    start_log log(pool, [](fake_worker& fresh) {
        if (fresh.order().worker.slot == 0) {
            fresh.exit(exit_3);
        } else {
            fresh.shake_hands();
        }
    });
    crash_worker(pool, 0);
    pool.advance(350ms); // slot 0 fails again and again
    const auto before = log.moments.size();
    crash_worker(pool, 1);
    BOOST_TEST(log.moments.size() == before + 1);
    BOOST_TEST(pool.runtime().workers.back()->order().worker.slot == 1u);
}

BOOST_AUTO_TEST_CASE(one_that_is_killed_from_outside_is_not_held_against_the_slot) {
    running_pool pool(without_jitter());
    pool.warm_up();
    start_log log(pool, [](fake_worker& fresh) { fresh.exit(exit_status::signalled(SIGKILL)); });
    crash_worker(pool, 0);
    pool.advance(1s);
    BOOST_TEST(log.moments.size() == 11u); // each after 100 ms
}

BOOST_AUTO_TEST_CASE(nor_is_it_if_they_were_ready_when_killed) {
    running_pool pool(without_jitter());
    for (std::size_t i = 0; i < 6; ++i) {
        crash_worker(pool, i, exit_status::signalled(SIGKILL));
        pool.advance(100ms);
        BOOST_REQUIRE_EQUAL(pool.launched(), i + 2);
    }
}

BOOST_AUTO_TEST_CASE(an_answer_read_after_the_end_is_useful_work) {
    running_pool pool(without_jitter());
    for (std::size_t i = 0; i < 4; ++i) { // each does one call and exits
        const auto call = pool.execute(request("x"));
        pool.worker(i).answer_call();
        crash_worker(pool, i);
        BOOST_TEST(call->value.has_value());
        pool.advance(10ms);
        BOOST_REQUIRE_EQUAL(pool.launched(), i + 2);
    }
}

BOOST_AUTO_TEST_CASE(jitter_spreads_the_delays_within_its_share) {
    auto config = fake_config(200);
    config.start.batch_size = 1000;
    config.min_ready = 200;
    running_pool pool(config);
    start_log log(pool, [](fake_worker& fresh) { fresh.shake_hands(); });
    for (std::size_t i = 0; i < 200; ++i) {
        pool.worker(i).exit(exit_3);
    }
    pool.run_until_idle();
    BOOST_TEST(log.moments.empty());
    pool.advance(74ms, 1ms);
    BOOST_TEST(log.moments.empty());
    pool.advance(26ms, 1ms);
    BOOST_TEST(log.moments.size() > 40u);
    BOOST_TEST(log.moments.size() < 160u);
    pool.advance(26ms, 1ms);
    BOOST_TEST(log.moments.size() == 200u);
}

BOOST_AUTO_TEST_CASE(the_status_shows_a_slot_that_waits) {
    running_pool pool(without_jitter());
    pool.warm_up();
    start_log log(pool, exit_with_3);
    crash_worker(pool, 0);
    const auto status = pool.status();
    BOOST_REQUIRE_EQUAL(status.workers.size(), 1u);
    BOOST_TEST(to_string(status.workers[0].state) == "pending");
    BOOST_TEST(status.workers[0].pid == 0);
    check_mentions(status.workers[0].last_failure, "its process ended before it was ready");
}

BOOST_AUTO_TEST_CASE(a_spawn_that_fails_is_tried_again) {
    running_pool pool(without_jitter());
    pool.warm_up();
    int attempts = 0;
    pool.runtime().on_start = [&attempts](fake_worker& fresh) {
        if (++attempts < 4) {
            error_info info;
            info.detail = "vfork: Resource temporarily unavailable";
            throw error(errc::spawn_failed, std::move(info));
        }
        fresh.shake_hands();
    };
    crash_worker(pool, 0);
    pool.advance(700ms);
    BOOST_TEST(attempts == 4);
    BOOST_TEST(to_string(pool.status().workers[0].state) == "ready");
    BOOST_TEST(pool.counters().output_lines_dropped == 0u); // three workers had no process
}

BOOST_AUTO_TEST_CASE(the_status_names_the_failure_of_the_latest_attempt) {
    running_pool pool(without_jitter());
    pool.warm_up();
    pool.runtime().on_start = [](fake_worker&) {
        error_info info;
        info.detail = "vfork: Resource temporarily unavailable";
        throw error(errc::spawn_failed, std::move(info));
    };
    crash_worker(pool, 0);
    check_mentions(pool.status().workers[0].last_failure, "vfork: Resource temporarily unavailable");
}

BOOST_AUTO_TEST_CASE(a_predecessor_that_takes_long_to_end_does_not_hide_it) {
    running_pool pool(without_jitter());
    pool.warm_up();
    pool.runtime().on_start = never_ready;
    pool.worker(0).obeys_terminate = false;
    pool.worker(0).send_raw("garbage");
    pool.run_until_idle();
    BOOST_REQUIRE_EQUAL(pool.launched(), 2u);
    crash_worker(pool, 1);
    check_mentions(pool.status().workers[0].last_failure, "its process ended before it was ready");
    pool.advance(2s);
    BOOST_TEST(pool.worker(0).has_exited());
    check_mentions(pool.status().workers[0].last_failure, "its process ended before it was ready");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(start_limit)

namespace {

/// Ends workers [0, count) and returns how many were started in their place at once.
std::size_t replaced_at_once(manual_pool& pool, std::size_t count) {
    const auto before = pool.launched();
    for (std::size_t i = 0; i < count; ++i) {
        pool.worker(i).exit(exit_3);
    }
    pool.run_until_idle();
    return pool.launched() - before;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_mass_of_lost_workers_does_not_come_back_as_a_herd) {
    running_pool pool(forgiving_config(40));
    pool.runtime().on_start = never_ready;
    BOOST_TEST(replaced_at_once(pool, 40) == 10u); // start.batch_size
    BOOST_TEST(pool.status().workers.size() == 40u);
}

BOOST_AUTO_TEST_CASE(one_more_is_started_for_each_that_is_up) {
    running_pool pool(forgiving_config(40));
    pool.runtime().on_start = never_ready;
    replaced_at_once(pool, 40);
    pool.worker(40).shake_hands();
    pool.worker(41).shake_hands();
    pool.run_until_idle();
    BOOST_TEST(pool.launched() == 52u);
}

BOOST_AUTO_TEST_CASE(or_that_failed) {
    running_pool pool(forgiving_config(40));
    pool.runtime().on_start = never_ready;
    replaced_at_once(pool, 40);
    crash_worker(pool, 40);
    BOOST_TEST(pool.launched() == 51u);
}

BOOST_AUTO_TEST_CASE(all_come_back_without_time_passing_if_they_are_quick) {
    running_pool pool(forgiving_config(100));
    BOOST_TEST(replaced_at_once(pool, 100) == 100u);
    for (const auto& worker : pool.status().workers) {
        BOOST_TEST(to_string(worker.state) == "ready");
    }
}

BOOST_AUTO_TEST_CASE(the_safety_tick_starts_some_though_others_hang) {
    auto config = forgiving_config(10);
    config.start.batch_size = 1;
    running_pool pool(config);
    pool.runtime().on_start = never_ready;
    BOOST_TEST(replaced_at_once(pool, 10) == 1u);
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 13u); // restart.starts_per_tick
    pool.advance(1s);
    BOOST_TEST(pool.launched() == 15u);
    pool.advance(3s);
    BOOST_TEST(pool.launched() == 20u);
    pool.advance(3s);
    BOOST_TEST(pool.launched() == 20u);
}

BOOST_AUTO_TEST_CASE(the_pace_of_the_safety_tick_can_be_set) {
    auto config = forgiving_config(10);
    config.start.batch_size = 1;
    config.restart.safety_tick = 100ms;
    config.restart.starts_per_tick = 1;
    running_pool pool(config);
    pool.runtime().on_start = never_ready;
    replaced_at_once(pool, 10);
    pool.advance(500ms);
    BOOST_TEST(pool.launched() == 16u);
}

BOOST_AUTO_TEST_CASE(the_safety_tick_respects_backoff) {
    auto config = without_jitter();
    config.restart.initial_backoff = 10s;
    running_pool pool(config);
    crash_worker(pool, 0);
    pool.advance(9990ms);
    BOOST_TEST(pool.launched() == 1u);
    pool.advance(10ms);
    BOOST_TEST(pool.launched() == 2u);
}

BOOST_AUTO_TEST_CASE(one_that_hangs_in_its_start_is_given_up_and_replaced) {
    running_pool pool(forgiving_config(1));
    pool.runtime().on_start = never_ready;
    crash_worker(pool, 0);
    BOOST_TEST(pool.launched() == 2u);
    pool.advance(29990ms);
    BOOST_TEST(pool.worker(1).terminations == 0);
    pool.runtime().on_start = [](fake_worker& fresh) { fresh.shake_hands(); };
    pool.advance(10ms);
    BOOST_TEST(pool.worker(1).terminations == 1);
    pool.advance(200ms);
    BOOST_TEST(pool.launched() == 3u);
    BOOST_TEST(to_string(pool.status().workers[0].state) == "ready");
    BOOST_TEST(pool.counters().start_failures == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
