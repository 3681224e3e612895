// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/heartbeat.hpp"
#include "support/start_time.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

using namespace skep;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(heartbeat_monitor_test)

namespace {

using test::start;

double in_ms(duration span) {
    return std::chrono::duration<double, std::milli>(span).count();
}

// Ticks punctually until the worker is lost; when that was, counted from the first ping.
duration time_to_loss(const heartbeat_options& options) {
    heartbeat_monitor monitor(options, start);
    const auto first = monitor.next_tick();
    for (int i = 0; i < 1'000'000; ++i) {
        const auto now = monitor.next_tick();
        if (monitor.tick(now).lost) {
            return now - first;
        }
    }
    return duration::max();
}

} // namespace

BOOST_AUTO_TEST_CASE(the_first_tick_comes_after_the_initial_delay) {
    heartbeat_options options;
    BOOST_TEST((heartbeat_monitor(options, start).next_tick() == start));
    options.initial_delay = 7s;
    heartbeat_monitor monitor(options, start);
    BOOST_TEST((monitor.next_tick() == start + 7s));
    monitor.tick(start + 7s);
    BOOST_TEST((monitor.next_tick() == start + 9s));
}

BOOST_AUTO_TEST_CASE(pings_are_numbered_and_an_interval_apart) {
    heartbeat_monitor monitor(heartbeat_options{}, start);
    for (std::uint64_t i = 1; i <= 100; ++i) {
        const auto now = monitor.next_tick();
        BOOST_TEST((now == start + 2s * (i - 1)));
        BOOST_TEST(monitor.tick(now).ping == i);
        monitor.heard();
    }
}

BOOST_AUTO_TEST_CASE(a_worker_that_answers_misses_nothing) {
    heartbeat_monitor monitor(heartbeat_options{}, start);
    for (int i = 0; i < 1000; ++i) {
        const auto verdict = monitor.tick(monitor.next_tick());
        BOOST_TEST(verdict.new_misses == 0);
        BOOST_TEST(!verdict.lost);
        monitor.heard();
    }
}

BOOST_AUTO_TEST_CASE(a_silent_worker_with_the_defaults) {
    heartbeat_monitor monitor(heartbeat_options{}, start);
    const std::vector<int> misses{0, 0, 0, 0, 0, 1, 1, 1}; // at 0, 2, 4 ... 14 s
    for (std::size_t i = 0; i < misses.size(); ++i) {
        const auto verdict = monitor.tick(start + 2s * i);
        BOOST_TEST_CONTEXT("at " << 2 * i << " s") {
            BOOST_TEST(verdict.new_misses == misses[i]);
            BOOST_TEST(verdict.lost == (i == 7));
            BOOST_TEST(verdict.ping == i + 1);
        }
    }
}

BOOST_AUTO_TEST_CASE(when_a_silent_worker_is_lost) {
    struct row {
        duration interval, timeout;
        int misses;
        duration lost_after;
    };
    const std::vector<row> table{
        {2s, 10s, 3, 14s}, // defaults: 10 s and two ticks
        {2s, 10s, 1, 10s},    {2s, 10s, 2, 12s},
        {2s, 10s, 100, 208s}, {10s, 2s, 3, 30s}, // a timeout within the interval is seen at the next tick
        {1s, 1s, 1, 1s},      {10ms, 10ms, 3, 30ms},
        {1s, 1500ms, 1, 2s},  {1h, 10ms, 1, 1h},
    };
    for (const auto& row : table) {
        heartbeat_options options;
        options.interval = row.interval;
        options.timeout = row.timeout;
        options.misses = row.misses;
        BOOST_TEST_CONTEXT(in_ms(row.interval) << " ms, " << in_ms(row.timeout) << " ms, " << row.misses) {
            BOOST_TEST(in_ms(time_to_loss(options)) == in_ms(row.lost_after));
            options.initial_delay = 1min;
            BOOST_TEST(in_ms(time_to_loss(options)) == in_ms(row.lost_after));
        }
    }
}

BOOST_AUTO_TEST_CASE(misses_are_counted_once_each) {
    heartbeat_monitor monitor(heartbeat_options{}, start);
    int total = 0;
    for (int i = 0; i <= 20; ++i) {
        total += monitor.tick(monitor.next_tick()).new_misses;
    }
    BOOST_TEST(total == 16); // the pings of 0, 2 ... 30 s are overdue at 40 s
}

BOOST_AUTO_TEST_CASE(any_sign_of_life_starts_the_count_anew) {
    heartbeat_monitor monitor(heartbeat_options{}, start);
    for (int i = 0; i < 7; ++i) {
        BOOST_TEST(!monitor.tick(monitor.next_tick()).lost);
    }
    monitor.heard(); // two misses in a row so far
    std::vector<int> misses;
    bool lost = false;
    while (!lost) {
        const auto verdict = monitor.tick(monitor.next_tick());
        misses.push_back(verdict.new_misses);
        lost = verdict.lost;
    }
    const std::vector<int> expected{0, 0, 0, 0, 0, 1, 1, 1};
    BOOST_TEST(misses == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(it_does_not_matter_when_between_two_ticks_it_was_heard) {
    heartbeat_options options;
    options.misses = 1;
    heartbeat_monitor monitor(options, start);
    for (int i = 0; i < 50; ++i) {
        // Answered every fourth ping only: silent for 8 s at most, which is less than the timeout.
        BOOST_TEST(!monitor.tick(monitor.next_tick()).lost);
        if (i % 4 == 0) {
            monitor.heard();
        }
    }
}

BOOST_AUTO_TEST_CASE(a_tick_that_is_late_by_more_than_a_second_forgives) {
    for (const auto& [late, forgiven] : std::vector<std::pair<duration, bool>>{
             {0s, false}, {1s, false}, {1s + 1ns, true}, {5s, true}, {1h, true}}) {
        heartbeat_monitor monitor(heartbeat_options{}, start);
        for (int i = 0; i < 7; ++i) {
            monitor.tick(monitor.next_tick());
        }
        const auto due = monitor.next_tick();
        const auto verdict = monitor.tick(due + late);
        BOOST_TEST_CONTEXT("late by " << in_ms(late) << " ms") {
            BOOST_TEST(verdict.lost == !forgiven);
            BOOST_TEST((verdict.new_misses == 0) == forgiven);
            BOOST_TEST((monitor.next_tick() == due + late + 2s)); // no burst of pings to catch up
            if (forgiven) { // it has its whole time again, from this tick
                int ticks = 0;
                while (!monitor.tick(monitor.next_tick()).lost) {
                    ++ticks;
                }
                BOOST_TEST(ticks == 6);
            }
        }
    }
}

// One ping was sent, and its answer may lie unread in the socket: the host stood still, not the worker.
BOOST_AUTO_TEST_CASE(one_late_tick_is_one_miss_at_most) {
    for (const auto late : {100ms, 300ms, 1000ms}) {
        heartbeat_options options;
        options.interval = 100ms;
        options.timeout = 100ms;
        heartbeat_monitor monitor(options, start);
        monitor.tick(monitor.next_tick());
        const auto verdict = monitor.tick(monitor.next_tick() + late);
        BOOST_TEST(verdict.new_misses <= 1, "late by " << in_ms(late) << " ms");
        BOOST_TEST(!verdict.lost, "late by " << in_ms(late) << " ms");
    }
}

// Ticks that are each a little late send fewer pings: what counts is pings that are overdue, not time.
BOOST_AUTO_TEST_CASE(late_ticks_do_not_make_more_misses_than_pings) {
    heartbeat_options options;
    options.timeout = 10s;
    options.misses = 100;
    heartbeat_monitor monitor(options, start);
    std::vector<time_point> sent;
    int misses = 0;
    for (int i = 0; i < 30; ++i) {
        const auto now = monitor.next_tick() + 900ms;
        int overdue = 0;
        for (const auto ping : sent) {
            overdue += now - ping >= options.timeout ? 1 : 0;
        }
        misses += monitor.tick(now).new_misses;
        sent.push_back(now);
        BOOST_TEST(misses <= overdue, "at tick " << i);
    }
}

BOOST_AUTO_TEST_CASE(pings_are_answered_in_order_and_once) {
    heartbeat_monitor monitor(heartbeat_options{}, start);
    BOOST_TEST(!monitor.answered(0));
    BOOST_TEST(!monitor.answered(1)); // none has been sent
    BOOST_TEST(monitor.tick(start).ping == 1u);
    monitor.tick(start + 2s);
    monitor.tick(start + 4s);
    BOOST_TEST(monitor.answered(1));
    BOOST_TEST(!monitor.answered(1));
    BOOST_TEST(monitor.answered(3));
    BOOST_TEST(!monitor.answered(2));
    BOOST_TEST(!monitor.answered(4));
}

BOOST_AUTO_TEST_SUITE_END()
