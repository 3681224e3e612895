// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/error_streaks.hpp"

#include <boost/test/unit_test.hpp>

#include <ostream>
#include <random>
#include <string>

using namespace skep;

namespace {

const std::string command = "predict";

struct fixture {
    error_streaks streaks{20};

    /// Slot 0 fails so often; returns what the last one says.
    streak_verdict fail(int times = 1, const std::string& what = command, std::uint32_t slot = 0) {
        auto verdict = streak_verdict::none;
        for (int i = 0; i < times; ++i) {
            verdict = streaks.failed(slot, what);
        }
        return verdict;
    }
    void succeed(int times = 1, const std::string& what = command, std::uint32_t slot = 0) {
        for (int i = 0; i < times; ++i) {
            streaks.succeeded(slot, what);
        }
    }
    void siblings_answer(int times = 20, const std::string& what = command) { succeed(times, what, 1); }

    /// So many rounds, of which slot 0 fails one in `mine`, and slots 1 to 3 one in `others` (0 = none).
    /// Returns in which round slot 0 is convicted; 0 if it is not.
    int convicted_in(int rounds, int mine, int others) {
        for (int round = 1; round <= rounds; ++round) {
            for (std::uint32_t slot = 0; slot < 4; ++slot) {
                const auto one_in = slot == 0 ? mine : others;
                if (one_in == 0 || (round + static_cast<int>(slot)) % one_in != 0) {
                    streaks.succeeded(slot, command);
                } else if (streaks.failed(slot, command) == streak_verdict::convict) {
                    BOOST_TEST(slot == 0u);
                    return round;
                }
            }
        }
        return 0;
    }
};

} // namespace

namespace skep {

std::ostream& operator<<(std::ostream& out, streak_verdict verdict) {
    static constexpr const char* names[]{"none", "streak", "suspect", "convict"};
    return out << names[static_cast<int>(verdict)];
}

} // namespace skep

BOOST_FIXTURE_TEST_SUITE(error_streaks_test, fixture)

BOOST_AUTO_TEST_CASE(a_streak_is_complete_at_the_limit_and_at_each_multiple_of_it) {
    BOOST_TEST(fail(19) == streak_verdict::none);
    BOOST_TEST(fail() == streak_verdict::streak);
    BOOST_TEST(fail(19) == streak_verdict::none);
    BOOST_TEST(fail() == streak_verdict::streak);
}

BOOST_AUTO_TEST_CASE(a_success_at_the_command_ends_it_and_one_at_another_does_not) {
    fail(19);
    succeed();
    BOOST_TEST(fail(19) == streak_verdict::none);
    succeed(1, "ping");
    BOOST_TEST(fail() == streak_verdict::streak);
}

BOOST_AUTO_TEST_CASE(commands_have_streaks_of_their_own) {
    fail(19);
    BOOST_TEST(fail(1, "crop") == streak_verdict::none);
    BOOST_TEST(fail() == streak_verdict::streak);
}

BOOST_AUTO_TEST_CASE(alone_it_is_never_suspected) {
    for (int i = 0; i < 100; ++i) {
        BOOST_TEST(fail(20) == streak_verdict::streak);
    }
}

BOOST_AUTO_TEST_CASE(siblings_that_answer_the_same_command_meanwhile_make_it_suspect_and_then_convict_it) {
    siblings_answer(100); // before it began: no proof
    BOOST_TEST(fail(20) == streak_verdict::streak);
    siblings_answer();
    BOOST_TEST(fail(20) == streak_verdict::suspect);
    BOOST_TEST(fail(20) == streak_verdict::streak); // what counts from now on is new
    siblings_answer();
    BOOST_TEST(fail(20) == streak_verdict::convict);
}

BOOST_AUTO_TEST_CASE(what_they_answer_of_other_commands_says_nothing) {
    siblings_answer(100, "ping");
    fail(1);
    siblings_answer(100, "ping");
    BOOST_TEST(fail(19) == streak_verdict::streak);
}

BOOST_AUTO_TEST_CASE(few_answers_of_siblings_prove_nothing) {
    fail(1);
    siblings_answer(2);
    BOOST_TEST(fail(19) == streak_verdict::streak);
}

BOOST_AUTO_TEST_CASE(one_that_fails_every_other_call_is_convicted) {
    const auto round = convicted_in(200, 2, 0);
    BOOST_TEST(round > 0);
    BOOST_TEST(round <= 80);
}

BOOST_AUTO_TEST_CASE(one_that_fails_all_while_the_others_fail_half_is_convicted) {
    BOOST_TEST(convicted_in(200, 1, 2) > 0);
}

BOOST_AUTO_TEST_CASE(what_fails_everywhere_convicts_nobody) {
    for (const int one_in : {1, 2, 3, 10, 100}) {
        streaks = error_streaks(20);
        BOOST_TEST(convicted_in(20'000, one_in, one_in) == 0, "one in " << one_in);
    }
}

BOOST_AUTO_TEST_CASE(nor_does_it_where_chance_decides_which_worker_gets_the_bad_half) {
    std::mt19937 chance(1);
    for (int i = 0; i < 400'000; ++i) {
        const auto slot = static_cast<std::uint32_t>(chance() % 4);
        if (chance() % 2 == 0) {
            streaks.succeeded(slot, command);
        } else {
            BOOST_REQUIRE(streaks.failed(slot, command) != streak_verdict::convict);
        }
    }
}

BOOST_AUTO_TEST_CASE(one_that_was_well_for_long_is_convicted_soon_once_it_is_not) {
    BOOST_TEST(convicted_in(100'000, 0, 0) == 0);
    const auto round = convicted_in(100, 1, 0);
    BOOST_TEST(round > 0);
    BOOST_TEST(round <= 60);
}

BOOST_AUTO_TEST_CASE(a_commands_own_rate_is_what_its_siblings_are_compared_by) {
    for (int i = 0; i < 400; ++i) { // slot 0 gets what is hard, and the others fail that as well
        BOOST_TEST(fail(1, "hard") != streak_verdict::suspect);
        succeed(3, "easy", 1);
        fail(1, "hard", 1);
    }
}

BOOST_AUTO_TEST_CASE(never_twice_in_a_row_in_one_slot_unless_it_did_better_for_long) {
    const auto is_convicted = [&] {
        streaks.started(0);
        return convicted_in(200, 1, 0) > 0;
    };
    BOOST_TEST(is_convicted());
    BOOST_TEST(!is_convicted());
    streaks.started(0);
    succeed(999);
    BOOST_TEST(!is_convicted());
    succeed(1);
    BOOST_TEST(is_convicted());
}

BOOST_AUTO_TEST_CASE(a_suspicion_is_forgotten_after_good_work) {
    const auto is_suspected = [&] {
        streaks.started(0);
        fail(1);
        siblings_answer(40);
        return fail(19) == streak_verdict::suspect;
    };
    BOOST_TEST(is_suspected());
    succeed(200);
    BOOST_TEST(is_suspected());
}

BOOST_AUTO_TEST_CASE(a_fresh_worker_begins_anew) {
    fail(19);
    streaks.started(0);
    BOOST_TEST(fail(19) == streak_verdict::none);
    BOOST_TEST(fail() == streak_verdict::streak);
}

BOOST_AUTO_TEST_CASE(a_limit_of_zero_looks_at_nothing) {
    streaks = error_streaks(0);
    BOOST_TEST(convicted_in(1000, 1, 0) == 0);
    BOOST_TEST(fail(1000) == streak_verdict::none);
}

BOOST_AUTO_TEST_CASE(a_limit_of_one_needs_more_than_one_failure_to_convict) {
    streaks = error_streaks(1);
    siblings_answer();
    BOOST_TEST(fail() == streak_verdict::streak);
    BOOST_TEST(convicted_in(100, 1, 0) > 0);
}

// Names come from callers, who may make up any number of them.
BOOST_AUTO_TEST_CASE(any_number_of_commands) {
    for (int i = 0; i < 10'000; ++i) {
        streaks.failed(8, std::to_string(i % 3000));
        streaks.succeeded(9, std::to_string(i % 1700));
    }
    BOOST_TEST(convicted_in(200, 1, 0) > 0);
}

BOOST_AUTO_TEST_SUITE_END()
