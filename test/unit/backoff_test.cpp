// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/backoff.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <limits>
#include <utility>
#include <vector>

using namespace skep;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(backoff_test)

namespace {

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

} // namespace

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

BOOST_AUTO_TEST_CASE(one_that_we_retired_says_nothing) {
    const restart_options options;
    for (const auto& status : {exit_status::signalled(SIGTERM), exit_status::exited(0), exit_status()}) {
        auto retired = death(true, 1s, 0, status);
        retired.retired = true;
        for (const int streak : {0, 1, 7}) {
            BOOST_TEST(next_failure_streak(streak, retired, options) == streak);
        }
        retired.completed = 1; // but work done forgives
        BOOST_TEST(next_failure_streak(7, retired, options) == 0);
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
