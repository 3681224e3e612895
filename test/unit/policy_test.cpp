// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/rate_limit.hpp"
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

std::string path(const stop_ladder& ladder) {
    std::string names;
    for (const auto& reached : ladder.taken()) {
        names += std::string(to_string(reached.rung)) + "@" + std::to_string(reached.after / 1ms) + " ";
    }
    return names;
}

stop_options short_options() {
    stop_options options;
    options.ask = 1s;
    options.grace = options.reap = 2s;
    return options;
}

} // namespace

BOOST_AUTO_TEST_SUITE(policy_test)

BOOST_AUTO_TEST_SUITE(ladder)

BOOST_AUTO_TEST_CASE(from_asking_all_the_way_down) {
    const auto options = short_options();
    stop_ladder ladder(options, stop_rung::ask, start);
    BOOST_TEST((ladder.rung() == stop_rung::ask));
    BOOST_TEST((ladder.deadline().due() == start + 1s));
    ladder.descend(start + 1s);
    BOOST_TEST((ladder.rung() == stop_rung::terminate));
    BOOST_TEST((ladder.deadline().due() == start + 3s));
    ladder.descend(start + 3s);
    BOOST_TEST((ladder.rung() == stop_rung::kill));
    BOOST_TEST((ladder.deadline().due() == start + 5s));
    ladder.descend(start + 5s);
    BOOST_TEST((ladder.rung() == stop_rung::lost));
    BOOST_TEST((ladder.deadline().due() == time_point::max()));
    BOOST_TEST(path(ladder) == "ask@0 terminate@1000 kill@3000 lost@5000 ");
}

BOOST_AUTO_TEST_CASE(below_lost_there_is_nothing) {
    stop_ladder ladder(short_options(), stop_rung::kill, start);
    for (int i = 1; i < 10; ++i) {
        ladder.descend(start + i * 2s);
        BOOST_TEST((ladder.rung() == stop_rung::lost));
    }
    BOOST_TEST(path(ladder) == "kill@0 lost@2000 ");
}

BOOST_AUTO_TEST_CASE(it_may_begin_on_any_rung) {
    stop_ladder terminate(short_options(), stop_rung::terminate, start);
    BOOST_TEST((terminate.deadline().due() == start + 2s));
    terminate.descend(start + 2s);
    BOOST_TEST(path(terminate) == "terminate@0 kill@2000 ");

    stop_ladder none(short_options(), stop_rung::none, start);
    BOOST_TEST((none.deadline().due() == time_point::max()));
    none.descend(start + 7s);
    BOOST_TEST((none.rung() == stop_rung::ask));
    BOOST_TEST((none.deadline().due() == start + 8s));
}

BOOST_AUTO_TEST_CASE(a_rung_given_up_early_or_late_has_its_full_time_from_then_on) {
    stop_ladder early(short_options(), stop_rung::ask, start);
    early.descend(start + 100ms);
    BOOST_TEST((early.deadline().due() == start + 2100ms));
    stop_ladder late(short_options(), stop_rung::ask, start);
    late.descend(start + 10s);
    BOOST_TEST((late.deadline().due() == start + 12s));
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
            ladder.descend(ladder.deadline().due());
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

BOOST_AUTO_TEST_SUITE_END()
