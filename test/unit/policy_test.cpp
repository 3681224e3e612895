// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/backoff.hpp"
#include "policy/heartbeat.hpp"
#include "policy/rate_limit.hpp"
#include "policy/retry.hpp"
#include "policy/stop_ladder.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <csignal>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace skep;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{5000s};

restart_options without_jitter() {
    restart_options options;
    options.jitter = 0;
    return options;
}

worker_death death(bool became_ready, duration uptime, std::uint64_t completed,
                   exit_status status = exit_status::exited(1)) {
    worker_death result;
    result.became_ready = became_ready;
    result.uptime = uptime;
    result.completed = completed;
    result.status = status;
    return result;
}

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

std::string path(const stop_ladder& ladder) {
    std::string names;
    for (const auto& reached : ladder.taken()) {
        names += std::string(to_string(reached.rung)) + "@" + std::to_string(reached.after / 1ms) + " ";
    }
    return names;
}

} // namespace

BOOST_AUTO_TEST_SUITE(policy_test)

BOOST_AUTO_TEST_SUITE(backoff)

BOOST_AUTO_TEST_CASE(the_delay_doubles_with_the_streak_up_to_the_cap) {
    const auto options = without_jitter();
    const std::vector<std::pair<int, duration>> table{
        {-1, 0ms},    {0, 0ms},    {1, 100ms},  {2, 200ms},  {3, 400ms},
        {4, 800ms},   {5, 1600ms}, {6, 3200ms}, {7, 6400ms}, {8, 12800ms},
        {9, 25600ms}, {10, 30s},   {11, 30s},   {1000, 30s}, {std::numeric_limits<int>::max(), 30s}};
    for (const auto& [streak, delay] : table) {
        for (const double random : {0.0, 0.5, 0.999}) {
            BOOST_TEST(in_ms(backoff_delay(streak, random, options)) == in_ms(delay), "streak " << streak);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_delay_never_overflows) {
    auto options = without_jitter();
    options.initial_backoff = 1h;
    options.max_backoff = 24h;
    options.jitter = 1;
    for (const int streak : {1, 2, 5, 6, 64, 1000, std::numeric_limits<int>::max()}) {
        const auto delay = backoff_delay(streak, 0.999, options);
        BOOST_TEST((delay > 0s && delay <= 48h), "streak " << streak);
    }
    options.max_backoff = options.initial_backoff;
    options.jitter = 0;
    BOOST_TEST((backoff_delay(9, 0.5, options) == 1h));
}

BOOST_AUTO_TEST_CASE(jitter_stays_within_its_share) {
    const restart_options options; // 25 %
    BOOST_TEST(in_ms(backoff_delay(3, 0.0, options)) == 300, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(in_ms(backoff_delay(3, 0.5, options)) == 400, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(in_ms(backoff_delay(3, 0.75, options)) == 450, boost::test_tools::tolerance(1e-9));
    double last = 0;
    for (int i = 0; i < 1000; ++i) {
        const auto delay = in_ms(backoff_delay(3, i / 1000.0, options));
        BOOST_TEST((delay >= 300 - 1e-6 && delay < 500));
        BOOST_TEST(delay > last);
        last = delay;
    }
}

BOOST_AUTO_TEST_CASE(full_jitter_reaches_zero_and_no_further) {
    auto options = without_jitter();
    options.jitter = 1;
    BOOST_TEST((backoff_delay(1, 0.0, options) == 0s));
    BOOST_TEST((backoff_delay(1, 0.999, options) < 200ms));
    BOOST_TEST((backoff_delay(0, 0.999, options) == 0s));
}

BOOST_AUTO_TEST_CASE(next_failure_streak_table) {
    const restart_options options; // stable after 10 s
    struct row {
        worker_death death;
        bool forgiven;
    };
    const auto killed = exit_status::signalled(SIGKILL);
    const auto fine = exit_status::exited(0);
    const std::vector<row> table{
        {death(false, 0s, 0), false},        {death(false, 1h, 0), false},
        {death(false, 0s, 5), false}, // never ready: never forgiven
        {death(true, 0s, 0), false},         {death(true, 9999ms, 0), false},
        {death(true, 0s, 0, fine), false},   {death(true, 10s, 0), true},
        {death(true, 1h, 0), true},          {death(true, 0s, 1), true},
        {death(true, 10s, 100), true},       {death(true, 0s, 1, killed), true},
        {death(true, 10s, 0, killed), true},
    };
    for (const auto& [death, forgiven] : table) {
        for (const int streak : {0, 1, 7}) {
            BOOST_TEST_CONTEXT("ready " << death.became_ready << ", up " << in_ms(death.uptime)
                                        << " ms, completed " << death.completed << ", "
                                        << to_string(death.status) << ", streak " << streak) {
                BOOST_TEST(next_failure_streak(streak, death, options) == (forgiven ? 0 : streak + 1));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(deaths_by_the_hand_of_others_count_once) {
    const restart_options options;
    for (const int signal : {SIGKILL, SIGTERM}) {
        for (const bool ready : {false, true}) {
            const auto killed = death(ready, 1s, 0, exit_status::signalled(signal));
            BOOST_TEST(next_failure_streak(0, killed, options) == 1);
            BOOST_TEST(next_failure_streak(1, killed, options) == 1);
            BOOST_TEST(next_failure_streak(7, killed, options) == 7); // nor does it forgive
        }
    }
    for (const auto& status : {exit_status::signalled(SIGSEGV), exit_status::signalled(SIGABRT),
                               exit_status::exited(SIGKILL), exit_status()}) {
        BOOST_TEST(next_failure_streak(7, death(true, 1s, 0, status), options) == 8, to_string(status));
    }
}

BOOST_AUTO_TEST_CASE(stable_after_zero_forgives_whatever_became_ready) {
    restart_options options;
    options.stable_after = 0s;
    BOOST_TEST(next_failure_streak(3, death(true, 0s, 0), options) == 0);
    BOOST_TEST(next_failure_streak(3, death(false, 0s, 0), options) == 4);
}

BOOST_AUTO_TEST_CASE(a_crash_loop_slows_down_and_one_success_speeds_it_up_again) {
    const auto options = without_jitter();
    int streak = 0;
    duration total{};
    for (int i = 0; i < 100; ++i) {
        streak = next_failure_streak(streak, death(false, 0s, 0), options);
        total += backoff_delay(streak, 0.5, options);
    }
    BOOST_TEST((total > 45min && total <= 50min)); // not 100 starts in a row
    streak = next_failure_streak(streak, death(true, 1ms, 1), options);
    BOOST_TEST((backoff_delay(streak, 0.5, options) == 0s));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(heartbeat)

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

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(ladder)

BOOST_AUTO_TEST_CASE(from_asking_all_the_way_down) {
    stop_options options; // ask 1 s, grace 2 s, reap 2 s
    stop_ladder ladder(options, stop_rung::ask, start);
    BOOST_TEST((ladder.rung() == stop_rung::ask));
    BOOST_TEST((ladder.deadline() == start + 1s));
    ladder.descend(start + 1s);
    BOOST_TEST((ladder.rung() == stop_rung::terminate));
    BOOST_TEST((ladder.deadline() == start + 3s));
    ladder.descend(start + 3s);
    BOOST_TEST((ladder.rung() == stop_rung::kill));
    BOOST_TEST((ladder.deadline() == start + 5s));
    ladder.descend(start + 5s);
    BOOST_TEST((ladder.rung() == stop_rung::lost));
    BOOST_TEST((ladder.deadline() == time_point::max()));
    BOOST_TEST(path(ladder) == "ask@0 terminate@1000 kill@3000 lost@5000 ");
}

BOOST_AUTO_TEST_CASE(below_lost_there_is_nothing) {
    stop_ladder ladder(stop_options{}, stop_rung::kill, start);
    for (int i = 1; i < 10; ++i) {
        ladder.descend(start + i * 2s);
        BOOST_TEST((ladder.rung() == stop_rung::lost));
    }
    BOOST_TEST(path(ladder) == "kill@0 lost@2000 ");
}

BOOST_AUTO_TEST_CASE(it_may_begin_on_any_rung) {
    stop_ladder terminate(stop_options{}, stop_rung::terminate, start);
    BOOST_TEST((terminate.deadline() == start + 2s));
    terminate.descend(start + 2s);
    BOOST_TEST(path(terminate) == "terminate@0 kill@2000 ");

    stop_ladder none(stop_options{}, stop_rung::none, start);
    BOOST_TEST((none.deadline() == time_point::max()));
    none.descend(start + 7s);
    BOOST_TEST((none.rung() == stop_rung::ask));
    BOOST_TEST((none.deadline() == start + 8s));
}

BOOST_AUTO_TEST_CASE(a_rung_given_up_early_or_late_has_its_full_time_from_then_on) {
    stop_ladder early(stop_options{}, stop_rung::ask, start);
    early.descend(start + 100ms);
    BOOST_TEST((early.deadline() == start + 2100ms));
    stop_ladder late(stop_options{}, stop_rung::ask, start);
    late.descend(start + 10s);
    BOOST_TEST((late.deadline() == start + 12s));
    BOOST_TEST(path(late) == "ask@0 terminate@10000 ");
}

BOOST_AUTO_TEST_CASE(the_way_down_is_bounded_by_the_options) {
    for (const auto& [ask, grace, reap] :
         std::vector<std::array<duration, 3>>{{0s, 0s, 10ms}, {1s, 2s, 2s}, {1h, 1h, 1h}, {0s, 5s, 1s}}) {
        stop_options options;
        options.ask = ask;
        options.grace = grace;
        options.reap = reap;
        stop_ladder ladder(options, stop_rung::ask, start);
        int steps = 0;
        while (ladder.rung() != stop_rung::lost) {
            ladder.descend(ladder.deadline());
            BOOST_REQUIRE(++steps <= 3);
        }
        BOOST_TEST((ladder.taken().back().after == ask + grace + reap));
        BOOST_TEST(ladder.taken().size() == 4u);
    }
}

BOOST_AUTO_TEST_CASE(the_last_rung_is_what_a_worker_needed) {
    worker_exit exit;
    BOOST_TEST((exit.rung() == stop_rung::none));
    exit.rungs = {{stop_rung::ask, 0s}, {stop_rung::terminate, 1s}};
    BOOST_TEST((exit.rung() == stop_rung::terminate));
    shutdown_report report;
    BOOST_TEST(report.clean());
    report.workers = {exit, worker_exit{}};
    BOOST_TEST(report.clean());
    exit.rungs.push_back({stop_rung::lost, 5s});
    report.workers.push_back(exit);
    BOOST_TEST(!report.clean());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rate)

BOOST_AUTO_TEST_CASE(a_burst_of_one_seconds_worth_then_the_rate) {
    rate_limit limit(10, start);
    for (int i = 0; i < 10; ++i) {
        BOOST_TEST(limit.admit(start));
    }
    BOOST_TEST(!limit.admit(start));
    BOOST_TEST(!limit.admit(start + 99ms));
    BOOST_TEST(limit.admit(start + 101ms));
    BOOST_TEST(!limit.admit(start + 102ms));
}

BOOST_AUTO_TEST_CASE(asking_often_does_not_lose_fractions) {
    rate_limit limit(10, start);
    int admitted = 0;
    for (int i = 0; i <= 100'000; ++i) {
        admitted += limit.admit(start + i * 100us) ? 1 : 0; // 10 s
    }
    BOOST_TEST((admitted >= 109 && admitted <= 110));
}

BOOST_AUTO_TEST_CASE(a_pause_saves_up_one_second_at_most) {
    rate_limit limit(10, start);
    while (limit.admit(start)) {}
    int admitted = 0;
    while (limit.admit(start + 1h)) {
        ++admitted;
    }
    BOOST_TEST(admitted == 10);
}

BOOST_AUTO_TEST_CASE(a_rate_of_zero_admits_nothing) {
    rate_limit limit(0, start);
    BOOST_TEST(!limit.admit(start));
    BOOST_TEST(!limit.admit(start + 24h));
}

BOOST_AUTO_TEST_CASE(a_rate_of_one) {
    rate_limit limit(1, start);
    BOOST_TEST(limit.admit(start));
    BOOST_TEST(!limit.admit(start + 999ms));
    BOOST_TEST(limit.admit(start + 1s));
    BOOST_TEST(!limit.admit(start + 1s));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(may_resend_table) {
    struct row {
        bool sent, idempotent;
        int attempts, max_attempts;
        bool expected;
    };
    constexpr std::array<row, 14> table{{
        {false, false, 0, 3, true},
        {false, true, 0, 3, true},
        {false, false, 3, 3, true},
        {false, true, 99, 1, true},
        {true, false, 1, 3, false},
        {true, false, 0, 3, false},
        {true, false, 3, 3, false},
        {true, true, 1, 3, true},
        {true, true, 2, 3, true},
        {true, true, 3, 3, false},
        {true, true, 4, 3, false},
        {true, true, 1, 1, false},
        {true, true, 1, 2, true},
        {true, true, 99, 100, true},
    }};
    for (const auto& row : table) {
        BOOST_TEST(may_resend(row.sent, row.idempotent, row.attempts, row.max_attempts) == row.expected,
                   "sent " << row.sent << ", idempotent " << row.idempotent << ", " << row.attempts << " of "
                           << row.max_attempts);
    }
}

BOOST_AUTO_TEST_SUITE_END()
