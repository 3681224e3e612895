// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/scaler.hpp"
#include "support/start_time.hpp"
#include "support/text.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <vector>

using namespace skep;
using namespace std::chrono_literals;
using test::contains;

namespace {

using test::start;

/// The defaults: up 80 %, down 30 %, interval and cool-down 60 s, target 100 ms.
struct scaler_trial {
    explicit scaler_trial(size_limits limits = {2, 20}) : it(scaling_options{}, limits, start) {
        load.desired = limits.min;
    }

    /// Decides once, `later`; the pool follows.
    std::string evaluate(double utilisation, duration later = 60s) {
        now += later;
        load.utilisation = utilisation;
        const auto decision = it.decide(load, now);
        BOOST_TEST((decision.desired == load.desired) == decision.reason.empty());
        load.desired = decision.desired;
        return decision.reason;
    }
    /// So many calls want to run; those for whom there is no worker have waited for so long.
    std::string burst(std::size_t calls, duration wait = 100ms) {
        load.running = std::min(calls, load.desired * load.capacity);
        load.queued = calls - load.running;
        load.oldest_wait = wait;
        auto reason = evaluate(1, 1ms);
        load.running = load.queued = 0;
        load.oldest_wait = 0s;
        return reason;
    }

    time_point now = start;
    scaler it;
    load_picture load;
};

} // namespace

BOOST_AUTO_TEST_SUITE(scaler_test)

BOOST_AUTO_TEST_SUITE(waiting)

BOOST_FIXTURE_TEST_CASE(fifty_concurrent_calls_grow_two_to_twenty_in_one_decision, scaler_trial) {
    const auto reason = burst(50);
    BOOST_TEST(load.desired == 20u);
    BOOST_TEST(reason == "callers have waited for 100 ms");
}

BOOST_AUTO_TEST_CASE(it_grows_to_what_the_calls_at_hand_need) {
    struct row {
        std::size_t calls, capacity, expected;
    };
    for (const auto& row : std::vector<row>{{2, 1, 2},
                                            {3, 1, 3},
                                            {19, 1, 19},
                                            {20, 1, 20},
                                            {1000, 1, 20},
                                            {9, 4, 3},
                                            {8, 4, 2},
                                            {50, 4, 13},
                                            {80, 4, 20},
                                            {81, 4, 20},
                                            {1, 65536, 2}}) {
        scaler_trial it;
        it.load.capacity = row.capacity;
        it.burst(row.calls);
        BOOST_TEST(it.load.desired == row.expected, row.calls << " calls, capacity " << row.capacity);
    }
}

BOOST_FIXTURE_TEST_CASE(one_burst_never_overshoots_however_often_it_is_decided_upon, scaler_trial) {
    load.in_service = 2; // the others are still starting
    for (int i = 0; i < 100'000; ++i) {
        burst(9, 100ms + i * 1ms);
        BOOST_TEST_REQUIRE(load.desired == 9u);
    }
}

BOOST_FIXTURE_TEST_CASE(waits_below_the_target_do_not_grow_it, scaler_trial) {
    for (int i = 0; i < 1000; ++i) {
        BOOST_TEST(burst(50, 99ms).empty());
    }
    BOOST_TEST(load.desired == 2u);
}

BOOST_AUTO_TEST_CASE(a_target_of_zero_grows_it_for_any_wait) {
    scaling_options options;
    options.target_queue_delay = 0s;
    scaler it(options, {2, 20}, start);
    load_picture load;
    load.desired = 2;
    load.running = 2;
    BOOST_TEST(it.decide(load, start).desired == 2u); // nobody waits
    load.queued = 1;
    BOOST_TEST(it.decide(load, start).desired == 3u);
}

BOOST_FIXTURE_TEST_CASE(who_waits_though_there_are_enough_workers_does_not_grow_it, scaler_trial) {
    load.desired = 10;
    burst(5, 10s); // those that are starting will serve them
    BOOST_TEST(load.desired == 10u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(utilisation)

BOOST_AUTO_TEST_CASE(high_utilisation_grows_it_to_the_middle) {
    struct row {
        std::size_t size;
        double utilisation;
        std::size_t expected;
    };
    for (const auto& row : std::vector<row>{{2, 0.8, 2}, // not above
                                            {2, 0.81, 3},
                                            {2, 1, 4},
                                            {10, 0.9, 17},
                                            {10, 1, 19},
                                            {15, 1, 20},
                                            {20, 1, 20}}) {
        scaler_trial it;
        it.load.desired = row.size;
        const auto reason = it.evaluate(row.utilisation);
        BOOST_TEST(it.load.desired == row.expected, row.size << " workers at " << row.utilisation);
        BOOST_TEST((reason.empty() || contains(reason, "the utilisation is ")));
    }
}

BOOST_FIXTURE_TEST_CASE(only_the_average_over_an_interval_counts, scaler_trial) {
    for (int i = 0; i < 59; ++i) {
        BOOST_TEST(evaluate(1, 1s).empty());
    }
    BOOST_TEST(!evaluate(1, 1s).empty());
    BOOST_TEST(load.desired == 4u);
    for (int i = 0; i < 600; ++i) { // busy for half of each interval
        BOOST_TEST(evaluate(i / 30 % 2, 1s).empty());
    }
}

BOOST_FIXTURE_TEST_CASE(workers_that_are_still_starting_count, scaler_trial) {
    evaluate(1);
    BOOST_TEST(load.desired == 4u);
    load.in_service = 2;
    for (int i = 0; i < 100; ++i) { // both busy all the time, while the others take for ever
        BOOST_TEST(evaluate(1).empty());
    }
    load.in_service = 4;
    evaluate(1);
    BOOST_TEST(load.desired == 8u); // now it is known that even four are too few
}

BOOST_FIXTURE_TEST_CASE(at_the_upper_limit_there_is_nothing_to_do, scaler_trial) {
    load.desired = 20;
    for (int i = 0; i < 10; ++i) {
        BOOST_TEST(evaluate(1).empty());
        BOOST_TEST(burst(100).empty());
    }
}

BOOST_AUTO_TEST_CASE(an_up_of_zero_is_survived) {
    scaling_options options;
    options.up = options.down = 0;
    scaler it(options, {2, 20}, start);
    load_picture load;
    load.desired = 2;
    load.utilisation = 0.01;
    BOOST_TEST(it.decide(load, start + 60s).desired == 20u);
    load.desired = 20;
    load.utilisation = 0;
    BOOST_TEST(it.decide(load, start + 120s).desired == 20u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(shrinking)

BOOST_FIXTURE_TEST_CASE(step_by_step_by_half_of_what_is_superfluous, scaler_trial) {
    load.desired = 20;
    std::vector<std::size_t> sizes;
    for (int i = 0; i < 8; ++i) {
        evaluate(0);
        sizes.push_back(load.desired);
    }
    const std::vector<std::size_t> expected{11, 7, 5, 4, 3, 2, 2, 2};
    BOOST_TEST(sizes == expected, boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(only_after_a_whole_cool_down_of_quiet, scaler_trial) {
    load.desired = 20;
    evaluate(0.5); // not quiet until here
    BOOST_TEST(evaluate(0, 59s).empty());
    BOOST_TEST(contains(evaluate(0, 1s), "the utilisation has been at most 0 % for 60000 ms"));
    BOOST_TEST(evaluate(0, 59s).empty()); // and as long again before the next step
    BOOST_TEST(!evaluate(0, 1s).empty());
}

BOOST_AUTO_TEST_CASE(at_the_lower_bound_itself_no_window_is_quiet) {
    scaling_options options;
    options.down = 0.25; // exact as a binary fraction
    scaler_trial it({1, 4});
    it.it = scaler(options, {1, 4}, start);
    it.load.desired = 4;
    for (int i = 0; i < 10; ++i) {
        BOOST_TEST(it.evaluate(0.25).empty());
    }
    BOOST_TEST(it.load.desired == 4u);
}

BOOST_FIXTURE_TEST_CASE(never_so_far_that_the_utilisation_would_exceed_up, scaler_trial) {
    for (std::size_t size = 2; size <= 20; ++size) {
        for (int percent = 0; percent < 30; ++percent) {
            scaler_trial it({1, 20});
            it.load.desired = size;
            const double busy = percent / 100.0 * static_cast<double>(size);
            for (int i = 0; i < 20; ++i) {
                it.evaluate(busy / static_cast<double>(it.load.desired));
            }
            BOOST_TEST(busy / static_cast<double>(it.load.desired) <= 0.8,
                       size << " workers at " << percent << " %");
            BOOST_TEST(it.load.desired < size, size << " workers at " << percent << " %");
        }
    }
}

BOOST_FIXTURE_TEST_CASE(never_below_the_calls_at_hand, scaler_trial) {
    load.desired = 20;
    load.running = 12; // they have only just begun
    for (int i = 0; i < 20; ++i) {
        evaluate(0.01);
    }
    BOOST_TEST(load.desired == 12u); // so that what stops is idle
}

BOOST_AUTO_TEST_CASE(what_was_needed_during_the_cool_down_stays) {
    scaling_options options;
    options.cool_down = 5min;
    scaler it(options, {1, 20}, start);
    load_picture load;
    load.desired = 20;
    auto now = start;
    for (int i = 1; i < 5; ++i) {
        load.utilisation = i == 2 ? 0.29 : 0;
        BOOST_TEST(it.decide(load, now += 60s).desired == 20u);
    }
    BOOST_TEST(it.decide(load, now += 60s).desired == 14u); // half way to 8, not to 1
}

BOOST_FIXTURE_TEST_CASE(callers_that_wait_end_the_quiet_short_blips_do_not, scaler_trial) {
    load.desired = 20;
    burst(50, 50ms);
    evaluate(0, 30s);
    burst(50, 99ms);
    BOOST_TEST(!evaluate(0, 30s).empty());
    BOOST_TEST(load.desired == 11u);
    load.desired = 20;
    evaluate(0, 30s);
    burst(50, 100ms); // there may be no more workers, but all are needed
    BOOST_TEST(evaluate(0, 59s).empty());
}

BOOST_AUTO_TEST_CASE(a_cool_down_of_zero_shrinks_at_every_interval) {
    scaling_options options;
    options.cool_down = 0s;
    scaler it(options, {1, 20}, start);
    load_picture load;
    load.desired = 20;
    BOOST_TEST(it.decide(load, start + 60s).desired == 11u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(flapping)

BOOST_FIXTURE_TEST_CASE(growing_soon_after_shrinking_doubles_the_cool_down_up_to_sixteen_times,
                        scaler_trial) {
    for (const auto expected : {120s, 240s, 480s, 960s, 960s, 960s}) {
        burst(20);
        while (evaluate(0).empty()) {}
        now += 30s;
        burst(20);
        BOOST_TEST((it.cool_down() == expected));
    }
}

BOOST_FIXTURE_TEST_CASE(the_doubled_cool_down_is_kept, scaler_trial) {
    burst(20);
    evaluate(0);
    burst(20);
    BOOST_TEST((it.cool_down() == 120s));
    BOOST_TEST(evaluate(0).empty());
    BOOST_TEST(!evaluate(0).empty());
}

BOOST_FIXTURE_TEST_CASE(growing_later_does_not, scaler_trial) {
    load.desired = 20;
    evaluate(0);
    now += 121s;
    burst(20);
    BOOST_TEST((it.cool_down() == 60s));
}

BOOST_FIXTURE_TEST_CASE(growth_in_several_steps_is_one_offence, scaler_trial) {
    load.desired = 20;
    evaluate(0);
    for (std::size_t calls = 12; calls <= 20; ++calls) {
        burst(calls);
    }
    BOOST_TEST((it.cool_down() == 120s));
}

BOOST_FIXTURE_TEST_CASE(quiet_times_take_the_doublings_back, scaler_trial) {
    for (int i = 0; i < 4; ++i) {
        burst(20);
        while (evaluate(0).empty()) {}
        burst(20);
    }
    BOOST_TEST((it.cool_down() == 960s));
    auto calm_since = now;
    for (const auto expected : {480s, 240s, 120s, 60s}) {
        const auto before = it.cool_down();
        while (it.cool_down() == before) {
            BOOST_TEST_REQUIRE(evaluate(0.5, 10s).empty());
        }
        BOOST_TEST((it.cool_down() == expected));
        BOOST_TEST((now - calm_since >= 4 * before && now - calm_since <= 4 * before + 10s));
        calm_since = now;
    }
    for (int i = 0; i < 100; ++i) {
        evaluate(0.5);
    }
    BOOST_TEST((it.cool_down() == 60s));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(limits)

BOOST_FIXTURE_TEST_CASE(a_lower_upper_limit_shrinks_it_at_once, scaler_trial) {
    load.desired = 20;
    it.resize({2, 7});
    BOOST_TEST(evaluate(1, 0s) == "there may be at most 7");
    BOOST_TEST(load.desired == 7u);
    BOOST_TEST((it.cool_down() == 60s));
    burst(50);
    BOOST_TEST(load.desired == 7u);
}

BOOST_FIXTURE_TEST_CASE(a_higher_lower_limit_grows_it_at_once, scaler_trial) {
    it.resize({9, 20});
    BOOST_TEST(evaluate(0, 0s) == "there are to be at least 9");
    BOOST_TEST(load.desired == 9u);
    for (int i = 0; i < 10; ++i) {
        BOOST_TEST(evaluate(0).empty());
    }
}

BOOST_FIXTURE_TEST_CASE(growing_on_command_after_shrinking_is_not_flapping, scaler_trial) {
    load.desired = 20;
    evaluate(0);
    it.resize({20, 30});
    evaluate(0, 1s);
    BOOST_TEST(load.desired == 20u);
    BOOST_TEST((it.cool_down() == 60s));
}

BOOST_AUTO_TEST_CASE(a_fixed_size_never_changes_but_by_resizing) {
    scaler_trial it({5, 5});
    BOOST_TEST(!it.it.is_on());
    for (const double utilisation : {0.0, 1.0}) {
        BOOST_TEST(it.evaluate(utilisation).empty());
        BOOST_TEST(it.burst(100).empty());
    }
    it.it.resize(size_limits(3));
    it.evaluate(1, 1s);
    BOOST_TEST(it.load.desired == 3u);
    it.it.resize({3, 5});
    BOOST_TEST(it.it.is_on());
    BOOST_TEST(it.it.limits().max == 5u);
}

BOOST_AUTO_TEST_CASE(they_hold_whatever_happens) {
    std::minstd_rand random(7);
    const auto below = [&](std::size_t end) { return random() % end; };
    scaler it(scaling_options{}, {2, 20}, start);
    auto now = start;
    load_picture load;
    load.desired = 2;
    for (int i = 0; i < 100'000; ++i) {
        if (below(50) == 0) {
            const auto fewest = 1 + below(20);
            it.resize({fewest, fewest + below(20)});
        }
        now += below(30) * 1s;
        load.capacity = 1 + below(4);
        load.running = below(load.desired * load.capacity + 1);
        load.queued = below(3) == 0 ? below(100) : 0;
        load.oldest_wait = below(200) * 1ms;
        load.in_service = below(load.desired + 1);
        load.utilisation = static_cast<double>(below(1001)) / 1000;
        const auto before = load.desired;
        const auto decision = it.decide(load, now);
        load.desired = decision.desired;
        BOOST_TEST_REQUIRE((load.desired >= it.limits().min && load.desired <= it.limits().max));
        BOOST_TEST_REQUIRE((before == load.desired) == decision.reason.empty());
    }
}

BOOST_AUTO_TEST_CASE(it_grows_no_further_than_other_pools_leave_room_for) {
    scaler it(scaling_options{}, {2, 20}, start);
    load_picture load;
    load.desired = load.in_service = load.running = 2;
    load.queued = 50;
    load.oldest_wait = 1s;
    load.most = 5;
    BOOST_TEST(it.decide(load, start + 1s).desired == 5u);
    load.desired = load.in_service = load.running = 5;
    BOOST_TEST(it.decide(load, start + 2s).desired == 5u);
    load.queued = 0;
    load.utilisation = 1;
    BOOST_TEST(it.decide(load, start + 120s).desired == 5u); // nor by its utilisation
    load.most = 6;
    BOOST_TEST(it.decide(load, start + 240s).desired == 6u);
    load.most = 0; // the least number is its own
    load.desired = 1;
    BOOST_TEST(it.decide(load, start + 241s).desired == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()
