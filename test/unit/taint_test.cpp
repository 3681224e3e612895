// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/taint.hpp"

#include <boost/test/unit_test.hpp>

#include <array>

using namespace skep;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(taint_test)

namespace {

/// Taints for 60 s at first and 10 min at most, on segfault, out_of_memory and gpu.
struct fixture {
    fixture() { options.enabled = true; }

    bool crash(duration served = 0s, exit_class kind = exit_class::segfault) {
        return it.ended(kind, exit_status::exited(77), served, options, now);
    }
    duration held() const { return it.until() - now; }

    crash_barrier_options options;
    taint it;
    time_point now{5000s};
};

} // namespace

BOOST_FIXTURE_TEST_CASE(a_fresh_slot_is_not_held_back, fixture) {
    BOOST_TEST(!it.is_tainted(now));
    BOOST_TEST((it.until() <= now));
    BOOST_TEST((it.earliest_start(7) <= now));
}

BOOST_FIXTURE_TEST_CASE(which_ends_taint, fixture) {
    for (const auto kind : {exit_class::segfault, exit_class::out_of_memory, exit_class::gpu}) {
        it = {};
        BOOST_TEST(crash(0s, kind), to_string(kind));
        BOOST_TEST((held() == 60s));
    }
    for (const auto kind : {exit_class::unknown, exit_class::clean, exit_class::error, exit_class::abort,
                            exit_class::killed_by_us, exit_class::killed_by_someone}) {
        it = {};
        BOOST_TEST(!crash(0s, kind), to_string(kind));
        BOOST_TEST(!it.is_tainted(now));
    }
    options.taint_on = {"error"};
    BOOST_TEST(crash(0s, exit_class::error));
    it = {};
    options.taint_on = {"7", "77"}; // the code of each of these ends
    BOOST_TEST(crash(0s, exit_class::error));
    it = {};
    BOOST_TEST(!crash(0s, exit_class::killed_by_us)); // the pool made it leave
    options.taint_on = {"7"};
    BOOST_TEST(!crash(0s, exit_class::error));
    it = {};
    BOOST_TEST(!crash(0s, exit_class::segfault));
}

BOOST_FIXTURE_TEST_CASE(none_does_unless_enabled, fixture) {
    options.enabled = false;
    BOOST_TEST(!crash());
    BOOST_TEST(!it.is_tainted(now));
}

BOOST_FIXTURE_TEST_CASE(it_passes_with_time, fixture) {
    crash();
    BOOST_TEST(it.is_tainted(now));
    BOOST_TEST(it.is_tainted(now + 60s - 1ns));
    BOOST_TEST(!it.is_tainted(now + 60s));
}

BOOST_FIXTURE_TEST_CASE(it_doubles_with_each_crash_in_a_row_up_to_the_longest, fixture) {
    for (const auto expected : std::array<duration, 7>{60s, 120s, 240s, 480s, 600s, 600s, 600s}) {
        BOOST_TEST(crash());
        BOOST_TEST((held() == expected));
        now = it.until() + 1s;
    }
}

BOOST_FIXTURE_TEST_CASE(it_never_overflows, fixture) {
    options.taint = 24h;
    options.max_taint = 24h;
    for (int i = 0; i < 1000; ++i) {
        crash();
        BOOST_TEST((held() == 24h));
        now += 1s;
    }
}

BOOST_FIXTURE_TEST_CASE(a_worker_that_served_as_long_as_the_last_taint_ends_the_row, fixture) {
    crash();
    crash(60s - 1ns);
    BOOST_TEST((held() == 120s));
    crash(119s);
    BOOST_TEST((held() == 240s));
    crash(240s);
    BOOST_TEST((held() == 60s));
}

BOOST_FIXTURE_TEST_CASE(other_ends_go_on_with_the_row_or_end_it, fixture) {
    crash();
    now += 70s;
    BOOST_TEST(!crash(5s, exit_class::killed_by_us));
    BOOST_TEST(!it.is_tainted(now));
    crash(5s);
    BOOST_TEST((held() == 120s));
    now += 1h;
    BOOST_TEST(!crash(50min, exit_class::clean));
    crash(0s);
    BOOST_TEST((held() == 60s));
}

BOOST_FIXTURE_TEST_CASE(a_pool_without_another_worker_is_not_held_back, fixture) {
    crash();
    BOOST_TEST((it.earliest_start(1) == now + 60s));
    BOOST_TEST((it.earliest_start(100) == now + 60s));
    BOOST_TEST((it.earliest_start(0) < now));
}

// The reference announces a restart once per taint; so each crash must be one.
BOOST_FIXTURE_TEST_CASE(a_crash_while_tainted_taints_anew, fixture) {
    crash();
    now += 10s; // it was started all the same, as the only one
    BOOST_TEST(crash(5s));
    BOOST_TEST((held() == 120s));
}

BOOST_AUTO_TEST_SUITE_END()
