// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/health_monitor.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

using namespace skep;
using namespace std::chrono_literals;

namespace skep {

std::ostream& operator<<(std::ostream& out, health_verdict verdict) {
    static constexpr const char* names[]{"none", "degrade", "restore", "remove"};
    return out << names[static_cast<int>(verdict)];
}

} // namespace skep

BOOST_AUTO_TEST_SUITE(health_monitor_test)

namespace {

/// The defaults: a probe every 30 s, every 5 s while degraded; 3 failures remove.
struct fixture {
    health_verdict pass() { return monitor.passed_probe(now); }
    health_verdict fail() { return monitor.failed(now); }
    duration wait() const { return monitor.next_probe() - now; }

    time_point now{5000s};
    health_monitor monitor{health_check_options{}, false, now};
};

} // namespace

BOOST_FIXTURE_TEST_CASE(it_begins_well_and_the_first_probe_is_an_interval_away, fixture) {
    BOOST_TEST(!monitor.is_degraded());
    BOOST_TEST(monitor.failures() == 0);
    BOOST_TEST((wait() == 30s));
}

BOOST_FIXTURE_TEST_CASE(probes_that_pass_change_nothing, fixture) {
    for (int i = 0; i < 100; ++i) {
        now = monitor.next_probe();
        BOOST_TEST(pass() == health_verdict::none);
        BOOST_TEST((wait() == 30s));
    }
}

BOOST_FIXTURE_TEST_CASE(the_third_failure_removes, fixture) {
    BOOST_TEST(fail() == health_verdict::degrade);
    BOOST_TEST(monitor.is_degraded());
    BOOST_TEST((wait() == 5s));
    now = monitor.next_probe();
    BOOST_TEST(fail() == health_verdict::none); // it is degraded already
    BOOST_TEST(monitor.is_degraded());
    BOOST_TEST((wait() == 5s));
    now = monitor.next_probe();
    BOOST_TEST(fail() == health_verdict::remove);
    BOOST_TEST(monitor.failures() == 3);
}

BOOST_FIXTURE_TEST_CASE(one_success_restores, fixture) {
    fail();
    fail();
    BOOST_TEST(pass() == health_verdict::restore);
    BOOST_TEST(!monitor.is_degraded());
    BOOST_TEST(monitor.failures() == 0);
    BOOST_TEST((wait() == 30s));
    BOOST_TEST(pass() == health_verdict::none);
    BOOST_TEST(fail() == health_verdict::degrade); // and has all its chances again
    BOOST_TEST(fail() == health_verdict::none);
    BOOST_TEST(fail() == health_verdict::remove);
}

BOOST_AUTO_TEST_CASE(so_many_failures_remove) {
    for (const int limit : {1, 2, 3, 100}) {
        health_check_options options;
        options.failures = limit;
        health_monitor monitor(options, false, time_point(5000s));
        for (int i = 1; i < limit; ++i) {
            BOOST_TEST(monitor.failed(time_point(5000s)) ==
                       (i == 1 ? health_verdict::degrade : health_verdict::none));
        }
        BOOST_TEST(monitor.failed(time_point(5000s)) == health_verdict::remove, "limit " << limit);
        BOOST_TEST(monitor.failed(time_point(5000s)) == health_verdict::remove, "limit " << limit);
    }
}

BOOST_FIXTURE_TEST_CASE(only_failures_in_a_row_remove, fixture) {
    for (int i = 0; i < 100; ++i) {
        BOOST_TEST(fail() == health_verdict::degrade);
        BOOST_TEST(fail() == health_verdict::none);
        BOOST_TEST(pass() == health_verdict::restore);
    }
}

// It shows what the probe would show.
BOOST_FIXTURE_TEST_CASE(work_done_puts_a_probe_off_that_shows_only_that_it_answers, fixture) {
    for (int i = 0; i < 100; ++i) {
        now += 29s;
        monitor.answered(now);
        BOOST_TEST((wait() == 30s));
    }
}

BOOST_FIXTURE_TEST_CASE(work_done_does_not_put_off_a_check_of_its_own, fixture) {
    monitor = health_monitor(health_check_options{}, true, now);
    const auto due = monitor.next_probe();
    for (int i = 0; i < 29; ++i) {
        now += 1s;
        monitor.answered(now);
        BOOST_TEST((monitor.next_probe() == due));
    }
    now = due;
    pass();
    BOOST_TEST((wait() == 30s));
}

BOOST_AUTO_TEST_CASE(probes_take_turns) {
    struct row {
        std::size_t workers;
        std::size_t at_probe;
        bool another_has_room;
        bool may_begin;
    };
    for (const auto& [workers, at_probe, another_has_room, may_begin] : {
             row{1, 0, false, true}, // nobody else will ever have room
             row{2, 0, false, true}, // all are at calls: one fewer for a moment
             row{2, 0, true, true},
             row{2, 1, true, false},
             row{7, 1, true, false},
             row{8, 1, true, true},
             row{8, 1, false, false}, // the last one that a call could go to
             row{8, 2, true, false},
             row{100, 24, true, true},
             row{100, 25, true, false},
         }) {
        BOOST_TEST(may_begin_probe(workers, at_probe, another_has_room) == may_begin,
                   workers << " workers, " << at_probe << " at a probe, " << another_has_room);
    }
}

BOOST_FIXTURE_TEST_CASE(an_answer_restores_nothing_and_does_not_put_off_the_probe_that_may, fixture) {
    fail();
    const auto due = monitor.next_probe();
    now += 4s;
    monitor.answered(now);
    BOOST_TEST(monitor.is_degraded());
    BOOST_TEST((monitor.next_probe() == due));
    now = due;
    BOOST_TEST(pass() == health_verdict::restore);
}

BOOST_FIXTURE_TEST_CASE(an_answer_forgives_failures, fixture) {
    fail();
    fail();
    monitor.answered(now);
    BOOST_TEST(monitor.failures() == 0);
    BOOST_TEST(fail() == health_verdict::none); // still degraded, the first of a new row
    BOOST_TEST(fail() == health_verdict::none);
    BOOST_TEST(fail() == health_verdict::remove);
}

BOOST_FIXTURE_TEST_CASE(after_a_standstill_of_the_host_one_probe_is_due_and_no_more, fixture) {
    now += 10h;
    BOOST_TEST((monitor.next_probe() <= now));
    pass();
    BOOST_TEST((wait() == 30s));
    now += 10h;
    BOOST_TEST(fail() == health_verdict::degrade); // one failure, not thousands
    BOOST_TEST((wait() == 5s));
}

BOOST_AUTO_TEST_SUITE_END()
