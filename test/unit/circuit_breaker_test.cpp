// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/text.hpp"
#include <skep/circuit_breaker.hpp>
#include <skep/error.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace skep;
using namespace std::chrono_literals;

namespace skep {

std::ostream& operator<<(std::ostream& out, circuit_state state) {
    static constexpr const char* names[]{"closed", "open", "half_open"};
    return out << names[static_cast<int>(state)];
}

} // namespace skep

BOOST_AUTO_TEST_SUITE(circuit_breaker_test)

namespace {

/// 3 failures open it for 10 s; one trial at a time, given up after 5 s.
struct fixture {
    explicit fixture(int trials = 1) : breaker(options(trials)) {}

    static circuit_breaker_options options(int trials) {
        circuit_breaker_options result;
        result.failures = 3;
        result.open_time = 10s;
        result.trials = trials;
        result.trial_limit = 5s;
        return result;
    }

    circuit_breaker::attempt admit() {
        const auto attempt = breaker.admit(now);
        BOOST_REQUIRE(attempt.has_value());
        return *attempt;
    }
    void fail(int times = 1) {
        for (int i = 0; i < times; ++i) {
            breaker.failed(admit(), now);
        }
    }
    void succeed() { breaker.succeeded(admit(), now); }
    circuit_state state() { return breaker.state(now); }
    bool admits() { return breaker.admit(now).has_value(); }

    circuit_breaker breaker;
    time_point now{1000s};
};

} // namespace

BOOST_AUTO_TEST_CASE(it_is_closed_at_first_and_admits_everything) {
    fixture it;
    for (int i = 0; i < 100; ++i) {
        BOOST_TEST(it.admits());
    }
    BOOST_TEST(it.state() == circuit_state::closed);
    BOOST_TEST((it.breaker.next_admission(it.now) == it.now));
}

BOOST_AUTO_TEST_CASE(failures_in_a_row_open_it) {
    fixture it;
    it.fail(2);
    BOOST_TEST(it.state() == circuit_state::closed);
    it.fail();
    BOOST_TEST(it.state() == circuit_state::open);
    BOOST_TEST(!it.admits());
    BOOST_TEST((it.breaker.next_admission(it.now) == it.now + 10s));
}

BOOST_AUTO_TEST_CASE(a_success_resets_the_count) {
    fixture it;
    for (int i = 0; i < 10; ++i) {
        it.fail(2);
        it.succeed();
    }
    BOOST_TEST(it.state() == circuit_state::closed);
}

BOOST_AUTO_TEST_CASE(failures_count_however_far_apart) {
    fixture it;
    it.fail(2);
    it.now += 24h;
    it.fail();
    BOOST_TEST(it.state() == circuit_state::open);
}

BOOST_AUTO_TEST_CASE(after_its_time_it_admits_one_trial) {
    fixture it;
    it.fail(3);
    it.now += 10s - 1ns;
    BOOST_TEST(!it.admits());
    it.now += 1ns;
    BOOST_TEST(it.state() == circuit_state::half_open);
    BOOST_TEST((it.breaker.next_admission(it.now) == it.now));
    BOOST_TEST(it.admits());
    BOOST_TEST(!it.admits());
    BOOST_TEST((it.breaker.next_admission(it.now) == it.now + 5s)); // when the trial is given up
}

BOOST_AUTO_TEST_CASE(a_trial_that_succeeds_closes_it) {
    fixture it;
    it.fail(3);
    it.now += 10s;
    it.succeed();
    BOOST_TEST(it.state() == circuit_state::closed);
    it.fail(2);
    BOOST_TEST(it.state() == circuit_state::closed); // with a clean slate
}

BOOST_AUTO_TEST_CASE(a_trial_that_fails_opens_it_for_as_long_again) {
    fixture it;
    it.fail(3);
    for (int i = 0; i < 3; ++i) {
        it.now += 10s;
        it.fail();
        BOOST_TEST(it.state() == circuit_state::open);
        BOOST_TEST((it.breaker.next_admission(it.now) == it.now + 10s));
    }
}

BOOST_AUTO_TEST_CASE(a_trial_that_hangs_does_not_block_it) {
    fixture it;
    it.fail(3);
    it.now += 10s;
    const auto hung = it.admit();
    it.now += 5s;
    BOOST_TEST(it.state() == circuit_state::open);
    it.now += 10s;
    const auto next = it.admit();
    it.breaker.succeeded(hung, it.now); // far too late: it speaks for the past
    BOOST_TEST(it.state() == circuit_state::half_open);
    it.breaker.succeeded(next, it.now);
    BOOST_TEST(it.state() == circuit_state::closed);
}

BOOST_AUTO_TEST_CASE(a_hung_trial_is_noticed_however_late_anybody_looks) {
    fixture it;
    it.fail(3);
    it.now += 10s;
    it.admit();
    it.now += 24h;
    BOOST_TEST(it.state() == circuit_state::half_open); // it opened again, and that is long ago too
    BOOST_TEST(it.admits());
}

BOOST_AUTO_TEST_CASE(outcomes_from_before_it_opened_change_nothing) {
    fixture it;
    const auto early = it.admit();
    const auto other = it.admit();
    it.fail(3);
    it.breaker.succeeded(early, it.now);
    BOOST_TEST(it.state() == circuit_state::open);
    it.now += 10s;
    const auto trial = it.admit();
    it.breaker.failed(other, it.now);
    BOOST_TEST(it.state() == circuit_state::half_open);
    it.breaker.succeeded(trial, it.now);
    BOOST_TEST(it.state() == circuit_state::closed);
    it.breaker.failed(trial, it.now); // reported twice
    it.fail(2);
    BOOST_TEST(it.state() == circuit_state::closed);
}

BOOST_AUTO_TEST_CASE(an_abandoned_trial_makes_room_for_another) {
    fixture it;
    it.fail(3);
    it.now += 10s;
    const auto trial = it.admit();
    BOOST_TEST(!it.admits());
    it.breaker.abandoned(trial, it.now);
    BOOST_TEST(it.state() == circuit_state::half_open);
    it.succeed();
    BOOST_TEST(it.state() == circuit_state::closed);
}

BOOST_AUTO_TEST_CASE(the_others_keep_their_time_when_one_is_abandoned) {
    fixture it(2);
    it.fail(3);
    it.now += 10s;
    const auto older = it.admit();
    it.now += 4s;
    const auto younger = it.admit();
    it.breaker.abandoned(older, it.now);
    it.now += 4s; // the older would have been given up by now
    BOOST_TEST(it.state() == circuit_state::half_open);
    it.breaker.succeeded(younger, it.now);
    BOOST_TEST(it.state() == circuit_state::closed);
}

BOOST_AUTO_TEST_CASE(an_abandoned_attempt_is_neither_success_nor_failure) {
    fixture it;
    it.fail(2);
    it.breaker.abandoned(it.admit(), it.now);
    BOOST_TEST(it.state() == circuit_state::closed);
    const auto early = it.admit();
    it.fail();
    BOOST_TEST(it.state() == circuit_state::open);
    it.now += 10s;
    const auto trial = it.admit();
    it.breaker.abandoned(early, it.now); // says nothing about the trial
    BOOST_TEST(!it.admits());
    it.breaker.succeeded(trial, it.now);
    BOOST_TEST(it.state() == circuit_state::closed);
}

BOOST_AUTO_TEST_CASE(of_several_trials_the_first_outcome_decides) {
    fixture it(2);
    it.fail(3);
    it.now += 10s;
    const auto first = it.admit();
    const auto second = it.admit();
    BOOST_TEST(!it.admits());
    it.breaker.succeeded(second, it.now);
    BOOST_TEST(it.state() == circuit_state::closed);
    it.breaker.failed(first, it.now);
    BOOST_TEST(it.state() == circuit_state::closed);
}

BOOST_AUTO_TEST_CASE(the_oldest_of_several_trials_is_given_up_first) {
    fixture it(2);
    it.fail(3);
    it.now += 10s;
    it.admit();
    it.now += 2s;
    it.admit();
    BOOST_TEST((it.breaker.next_admission(it.now) == it.now + 3s));
    it.now += 3s;
    BOOST_TEST(it.state() == circuit_state::open);
    BOOST_TEST((it.breaker.next_admission(it.now) == it.now + 10s));
}

BOOST_AUTO_TEST_CASE(tripping_opens_it_at_once) {
    fixture it;
    const auto early = it.admit();
    it.breaker.trip(it.now);
    BOOST_TEST(it.state() == circuit_state::open);
    BOOST_TEST(!it.admits());
    BOOST_TEST((it.breaker.next_admission(it.now) == it.now + 10s));
    it.breaker.succeeded(early, it.now);
    BOOST_TEST(it.state() == circuit_state::open);
    it.now += 10s;
    it.succeed();
    it.fail(2);
    BOOST_TEST(it.state() == circuit_state::closed);
}

BOOST_AUTO_TEST_CASE(tripping_while_open_opens_it_anew) {
    fixture it;
    it.fail(3);
    it.now += 6s;
    it.breaker.trip(it.now);
    BOOST_TEST((it.breaker.next_admission(it.now) == it.now + 10s));
}

BOOST_AUTO_TEST_CASE(tripping_while_half_open_gives_up_the_trials) {
    fixture it;
    it.fail(3);
    it.now += 10s;
    const auto trial = it.admit();
    it.breaker.trip(it.now);
    it.breaker.succeeded(trial, it.now);
    BOOST_TEST(it.state() == circuit_state::open);
    BOOST_TEST((it.breaker.next_admission(it.now) == it.now + 10s));
}

BOOST_AUTO_TEST_CASE(options_are_checked) {
    using change = std::function<void(circuit_breaker_options&)>;
    const std::vector<std::pair<std::string, change>> bad{
        {"circuit_breaker.failures = 0", [](auto& options) { options.failures = 0; }},
        {"circuit_breaker.failures = 1000001", [](auto& options) { options.failures = 1'000'001; }},
        {"circuit_breaker.open_time = 0 ms", [](auto& options) { options.open_time = 0s; }},
        {"circuit_breaker.trials = 1001", [](auto& options) { options.trials = 1001; }},
        {"circuit_breaker.trial_limit = 86400001 ms", [](auto& options) { options.trial_limit = 24h + 1ms; }},
    };
    for (const auto& [complaint, spoil] : bad) {
        circuit_breaker_options options;
        spoil(options);
        try {
            circuit_breaker breaker(options);
            BOOST_ERROR("accepted: " << complaint);
        } catch (const error& refusal) {
            BOOST_TEST((refusal.code() == errc::invalid_config));
            BOOST_TEST(test::contains(refusal.what(), complaint), refusal.what());
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
