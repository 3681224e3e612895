// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/restart_intensity.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>

using namespace skep;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(restart_intensity_test)

namespace {

/// Tolerates 3 ends within 30 s; then open for 20 s; trials are given up after 1 min.
struct fixture {
    explicit fixture(std::size_t most = 3) : intensity(most, options()) {}

    static restart_options options() {
        restart_options result;
        result.window = 30s;
        result.open_time = 20s;
        return result;
    }

    void end(int times = 1) {
        for (int i = 0; i < times; ++i) {
            intensity.ended(now);
        }
    }
    circuit_breaker::attempt admit() {
        const auto start = intensity.admit(now);
        BOOST_REQUIRE(start.has_value());
        return *start;
    }
    bool admits() { return intensity.admit(now).has_value(); }
    bool is(circuit_state state) { return intensity.state(now) == state; }

    restart_intensity intensity;
    time_point now{5000s};
};

} // namespace

BOOST_FIXTURE_TEST_CASE(closed_it_admits_everything, fixture) {
    for (int i = 0; i < 100; ++i) {
        BOOST_TEST(admits());
    }
    end(3);
    BOOST_TEST(is(circuit_state::closed));
    BOOST_TEST(admits());
    BOOST_TEST((intensity.next_admission(now) == now));
}

BOOST_FIXTURE_TEST_CASE(one_end_more_than_tolerated_opens_it, fixture) {
    end(3);
    end();
    BOOST_TEST(is(circuit_state::open));
    BOOST_TEST(!admits());
    BOOST_TEST((intensity.next_admission(now) == now + 20s));
}

BOOST_FIXTURE_TEST_CASE(the_window_slides, fixture) {
    for (int i = 0; i < 1000; ++i) { // one every 10 s: 3 in any 30 s
        end();
        now += 10s;
    }
    BOOST_TEST(is(circuit_state::closed));
    now += 30s;
    end(3);
    now += 30s - 1ns;
    end();
    BOOST_TEST(is(circuit_state::open));
}

BOOST_FIXTURE_TEST_CASE(how_many_ends_are_left, fixture) {
    BOOST_TEST(intensity.left(now) == 3u);
    end();
    now += 10s;
    end();
    BOOST_TEST(intensity.left(now) == 1u);
    end(5);
    BOOST_TEST(intensity.left(now) == 0u);
    now += 29s;
    BOOST_TEST(intensity.left(now) == 0u);
    now += 1s;
    BOOST_TEST(intensity.left(now) == 3u);
}

BOOST_AUTO_TEST_CASE(zero_tolerates_any_number) {
    fixture it(0);
    it.end(10'000);
    BOOST_TEST(it.is(circuit_state::closed));
    BOOST_TEST(it.admits());
    BOOST_TEST(it.intensity.left(it.now) == std::numeric_limits<std::size_t>::max());
}

BOOST_FIXTURE_TEST_CASE(starts_that_fail_while_closed_count_only_as_ends, fixture) {
    for (int i = 0; i < 100; ++i) {
        intensity.failed(admit(), now);
    }
    BOOST_TEST(is(circuit_state::closed));
}

BOOST_FIXTURE_TEST_CASE(after_its_time_one_trial_at_a_time, fixture) {
    end(4);
    now += 20s - 1ns;
    BOOST_TEST(!admits());
    now += 1ns;
    BOOST_TEST(is(circuit_state::half_open));
    BOOST_TEST(admits());
    BOOST_TEST(!admits());
}

BOOST_FIXTURE_TEST_CASE(a_trial_that_comes_up_closes_it, fixture) {
    end(4);
    now += 20s;
    intensity.came_up(admit(), now);
    BOOST_TEST(is(circuit_state::closed));
    BOOST_TEST(admits());
    BOOST_TEST(admits());
}

BOOST_FIXTURE_TEST_CASE(a_trial_that_fails_opens_it_anew, fixture) {
    end(4);
    for (int i = 0; i < 5; ++i) {
        now += 20s;
        const auto trial = admit();
        now += 1s;
        intensity.ended(now); // as the pool reports it: the end, then whose it was
        intensity.failed(trial, now);
        BOOST_TEST(is(circuit_state::open));
        BOOST_TEST((intensity.next_admission(now) == now + 20s));
    }
}

BOOST_FIXTURE_TEST_CASE(the_end_of_a_trial_does_not_open_it_twice, fixture) {
    end(4);
    now += 20s;
    const auto trial = admit();
    now += 1s;
    intensity.failed(trial, now);
    now += 5s;
    end(10);
    BOOST_TEST((intensity.next_admission(now) == now + 15s));
}

BOOST_FIXTURE_TEST_CASE(ends_of_others_do_not_harm_a_trial, fixture) {
    end(4);
    now += 20s;
    const auto trial = admit();
    end(10);
    BOOST_TEST(is(circuit_state::half_open));
    intensity.came_up(trial, now);
    BOOST_TEST(is(circuit_state::closed));
}

BOOST_FIXTURE_TEST_CASE(ends_while_open_do_not_prolong_it, fixture) {
    end(4);
    const auto due = intensity.next_admission(now);
    for (int i = 0; i < 19; ++i) {
        now += 1s;
        end();
        BOOST_TEST((intensity.next_admission(now) == due));
    }
    now += 1s;
    BOOST_TEST(admits());
}

BOOST_FIXTURE_TEST_CASE(ends_still_in_the_window_count_after_it_closed, fixture) {
    end(4);
    now += 20s;
    intensity.came_up(admit(), now);
    now += 1s;
    end();
    BOOST_TEST(is(circuit_state::open)); // five within 21 s
}

BOOST_FIXTURE_TEST_CASE(ends_before_the_window_do_not, fixture) {
    end(4);
    now += 30s;
    intensity.came_up(admit(), now);
    end(3);
    BOOST_TEST(is(circuit_state::closed));
    end();
    BOOST_TEST(is(circuit_state::open));
}

BOOST_FIXTURE_TEST_CASE(a_start_from_before_it_opened_decides_nothing, fixture) {
    const auto early = admit();
    end(4);
    intensity.came_up(early, now);
    BOOST_TEST(is(circuit_state::open));
    now += 20s;
    admit();
    intensity.failed(early, now);
    BOOST_TEST(is(circuit_state::half_open));
}

BOOST_FIXTURE_TEST_CASE(a_trial_that_hangs_is_given_up, fixture) {
    end(4);
    now += 20s;
    admit();
    BOOST_TEST((intensity.next_admission(now) == now + 1min));
    now += 1min;
    BOOST_TEST(is(circuit_state::open));
    now += 20s;
    BOOST_TEST(admits());
}

BOOST_AUTO_TEST_CASE(a_trial_has_as_long_as_a_start_may_take) {
    for (const auto start_limit : {1s, 20s, 600s}) {
        restart_intensity intensity(1, fixture::options(), start_limit);
        time_point now(5000s);
        intensity.ended(now);
        intensity.ended(now);
        now += 20s;
        const auto trial = intensity.admit(now);
        BOOST_REQUIRE(trial.has_value());
        now += start_limit - 1ms;
        intensity.came_up(*trial, now);
        BOOST_TEST((intensity.state(now) == circuit_state::closed));
    }
}

BOOST_FIXTURE_TEST_CASE(reset_begins_anew, fixture) {
    end(4);
    intensity.reset();
    BOOST_TEST(is(circuit_state::closed));
    BOOST_TEST(intensity.left(now) == 3u);
    end(3);
    BOOST_TEST(is(circuit_state::closed));
    end();
    BOOST_TEST(is(circuit_state::open));
    BOOST_TEST((intensity.next_admission(now) == now + 20s));
}

BOOST_AUTO_TEST_CASE(the_extremes_of_the_options_are_accepted) {
    for (const duration open_time : {duration(1ms), duration(24h)}) {
        auto options = fixture::options();
        options.open_time = open_time;
        restart_intensity intensity(1'000'000, options);
        BOOST_TEST((intensity.state(time_point(5000s)) == circuit_state::closed));
    }
}

BOOST_AUTO_TEST_SUITE_END()
