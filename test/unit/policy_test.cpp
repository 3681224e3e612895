// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/rate_limit.hpp"
#include "policy/stop_sequence.hpp"
#include "support/start_time.hpp"

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

using test::start;

std::string path(const stop_sequence& sequence) {
    std::string names;
    for (const auto& reached : sequence.taken()) {
        names += std::string(to_string(reached.stage)) + "@" + std::to_string(reached.after / 1ms) + " ";
    }
    return names;
}

stop_options short_options() {
    stop_options options;
    options.shutdown_grace = 1s;
    options.term_grace = options.reap_timeout = 2s;
    return options;
}

} // namespace

BOOST_AUTO_TEST_SUITE(policy_test)

BOOST_AUTO_TEST_SUITE(stop_sequence_test)

BOOST_AUTO_TEST_CASE(from_asking_all_the_way_down) {
    const auto options = short_options();
    stop_sequence sequence(options, stop_stage::ask, start);
    BOOST_TEST((sequence.stage() == stop_stage::ask));
    BOOST_TEST((sequence.deadline().due() == start + 1s));
    sequence.advance(start + 1s);
    BOOST_TEST((sequence.stage() == stop_stage::terminate));
    BOOST_TEST((sequence.deadline().due() == start + 3s));
    sequence.advance(start + 3s);
    BOOST_TEST((sequence.stage() == stop_stage::kill));
    BOOST_TEST((sequence.deadline().due() == start + 5s));
    sequence.advance(start + 5s);
    BOOST_TEST((sequence.stage() == stop_stage::lost));
    BOOST_TEST((sequence.deadline().due() == time_point::max()));
    BOOST_TEST(path(sequence) == "ask@0 terminate@1000 kill@3000 lost@5000 ");
}

BOOST_AUTO_TEST_CASE(after_lost_there_is_nothing) {
    stop_sequence sequence(short_options(), stop_stage::kill, start);
    for (int i = 1; i < 10; ++i) {
        sequence.advance(start + i * 2s);
        BOOST_TEST((sequence.stage() == stop_stage::lost));
    }
    BOOST_TEST(path(sequence) == "kill@0 lost@2000 ");
}

BOOST_AUTO_TEST_CASE(it_may_begin_at_any_stage) {
    stop_sequence terminate(short_options(), stop_stage::terminate, start);
    BOOST_TEST((terminate.deadline().due() == start + 2s));
    terminate.advance(start + 2s);
    BOOST_TEST(path(terminate) == "terminate@0 kill@2000 ");

    stop_sequence none(short_options(), stop_stage::none, start);
    BOOST_TEST((none.deadline().due() == time_point::max()));
    none.advance(start + 7s);
    BOOST_TEST((none.stage() == stop_stage::ask));
    BOOST_TEST((none.deadline().due() == start + 8s));
}

BOOST_AUTO_TEST_CASE(a_stage_given_up_early_or_late_has_its_full_time_from_then_on) {
    stop_sequence early(short_options(), stop_stage::ask, start);
    early.advance(start + 100ms);
    BOOST_TEST((early.deadline().due() == start + 2100ms));
    stop_sequence late(short_options(), stop_stage::ask, start);
    late.advance(start + 10s);
    BOOST_TEST((late.deadline().due() == start + 12s));
    BOOST_TEST(path(late) == "ask@0 terminate@10000 ");
}

BOOST_AUTO_TEST_CASE(the_way_down_is_bounded_by_the_options) {
    for (const auto& [shutdown_grace, term_grace, reap_timeout] :
         std::vector<std::array<duration, 3>>{{0s, 0s, 10ms}, {1s, 2s, 2s}, {1h, 1h, 1h}, {0s, 5s, 1s}}) {
        stop_options options;
        options.shutdown_grace = shutdown_grace;
        options.term_grace = term_grace;
        options.reap_timeout = reap_timeout;
        stop_sequence sequence(options, stop_stage::ask, start);
        int steps = 0;
        while (sequence.stage() != stop_stage::lost) {
            sequence.advance(sequence.deadline().due());
            BOOST_REQUIRE(++steps <= 3);
        }
        BOOST_TEST((sequence.taken().back().after == shutdown_grace + term_grace + reap_timeout));
        BOOST_TEST(sequence.taken().size() == 4u);
    }
}

BOOST_AUTO_TEST_CASE(the_last_stage_is_what_a_worker_needed) {
    worker_exit exit;
    BOOST_TEST((exit.stage() == stop_stage::none));
    exit.stages = {{stop_stage::ask, 0s}, {stop_stage::terminate, 1s}};
    BOOST_TEST((exit.stage() == stop_stage::terminate));
    shutdown_report report;
    BOOST_TEST(report.clean());
    report.workers = {exit, worker_exit{}};
    BOOST_TEST(report.clean());
    exit.stages.push_back({stop_stage::lost, 5s});
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
