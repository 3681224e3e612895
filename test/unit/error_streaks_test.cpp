// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/error_streaks.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace skep;

namespace {

const std::string command = "predict";
const std::string kind = "PIL.UnidentifiedImageError";

struct fixture {
    error_streaks streaks{3};

    /// Slot 0 fails so often; returns whether the last one completed a streak.
    bool fail(int times = 1, const std::string& how = kind) {
        bool complete = false;
        for (int i = 0; i < times; ++i) {
            complete = streaks.failed(0, command, how);
        }
        return complete;
    }
    void siblings_answer(int times = 3, const std::string& what = command) {
        for (int i = 0; i < times; ++i) {
            streaks.succeeded(1, what);
        }
    }
    bool convicts() { return streaks.convicts(0, command); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(error_streaks_test, fixture)

BOOST_AUTO_TEST_CASE(a_streak_is_complete_at_the_limit_and_at_each_multiple_of_it) {
    BOOST_TEST(!fail(2));
    BOOST_TEST(fail());
    BOOST_TEST(!fail(2));
    BOOST_TEST(fail());
}

BOOST_AUTO_TEST_CASE(a_success_at_the_command_ends_it_and_one_at_another_does_not) {
    fail(2);
    streaks.succeeded(0, command);
    BOOST_TEST(!fail(2));
    streaks.succeeded(0, "ping");
    BOOST_TEST(fail());
}

BOOST_AUTO_TEST_CASE(another_kind_of_failure_begins_another) {
    fail(2);
    BOOST_TEST(!fail(1, "ValueError"));
    BOOST_TEST(!fail(1));
    BOOST_TEST(!fail(1));
    BOOST_TEST(fail(1));
}

BOOST_AUTO_TEST_CASE(commands_have_streaks_of_their_own) {
    fail(2);
    BOOST_TEST(!streaks.failed(0, "crop", kind));
    BOOST_TEST(fail());
}

BOOST_AUTO_TEST_CASE(alone_it_convicts_nobody) {
    fail(1000);
    BOOST_TEST(!convicts());
}

BOOST_AUTO_TEST_CASE(siblings_that_answer_the_same_command_meanwhile_do) {
    siblings_answer(); // before it began: no proof
    fail(3);
    BOOST_TEST(!convicts());
    siblings_answer(2);
    BOOST_TEST(!convicts());
    siblings_answer(1);
    BOOST_TEST(convicts());
}

BOOST_AUTO_TEST_CASE(what_they_answer_of_other_commands_says_nothing) {
    fail(3);
    siblings_answer(100, "ping");
    BOOST_TEST(!convicts());
}

BOOST_AUTO_TEST_CASE(no_streak_no_conviction) {
    fail(2);
    siblings_answer();
    BOOST_TEST(!convicts());
    BOOST_TEST(!streaks.convicts(7, command));
}

BOOST_AUTO_TEST_CASE(bad_input_fails_at_siblings_too) {
    fail(1);
    streaks.failed(1, command, kind);
    siblings_answer();
    fail(2);
    BOOST_TEST(!convicts());
}

BOOST_AUTO_TEST_CASE(what_failed_at_siblings_before_does_not_excuse_it) {
    streaks.failed(1, command, kind);
    fail(3);
    siblings_answer();
    BOOST_TEST(convicts());
}

BOOST_AUTO_TEST_CASE(never_twice_in_a_row_for_the_same_kind) {
    const auto streak_of = [&](const std::string& how) {
        streaks.started(0);
        fail(3, how);
        siblings_answer();
        return convicts();
    };
    BOOST_TEST(streak_of(kind));
    BOOST_TEST(!streak_of(kind));
    BOOST_TEST(!streak_of(kind));
    BOOST_TEST(streak_of("ConnectionError"));
    BOOST_TEST(streak_of(kind));
}

BOOST_AUTO_TEST_CASE(one_stray_failure_of_a_sibling_does_not_excuse_it_for_ever) {
    fail(1);
    streaks.failed(1, command, kind);
    siblings_answer(100);
    fail(2);
    BOOST_TEST(!convicts());
    fail(3);
    siblings_answer();
    BOOST_TEST(convicts());
}

BOOST_AUTO_TEST_CASE(one_that_does_better_for_long_makes_up_for_those_before_it) {
    const auto sick = [&] {
        streaks.started(0);
        fail(3);
        siblings_answer();
        return convicts();
    };
    BOOST_TEST(sick());
    for (int i = 0; i < 149; ++i) {
        streaks.succeeded(0, command);
    }
    BOOST_TEST(!sick());
    streaks.succeeded(0, command);
    BOOST_TEST(sick());
}

BOOST_AUTO_TEST_CASE(a_fresh_worker_begins_anew) {
    fail(2);
    streaks.started(0);
    BOOST_TEST(!fail(2));
    BOOST_TEST(fail());
}

BOOST_AUTO_TEST_CASE(a_limit_of_zero_looks_at_nothing) {
    error_streaks none(0);
    for (int i = 0; i < 1000; ++i) {
        BOOST_TEST(!none.failed(0, command, kind));
        none.succeeded(1, command);
    }
    BOOST_TEST(!none.convicts(0, command));
}

BOOST_AUTO_TEST_CASE(a_limit_of_one) {
    error_streaks strict(1);
    BOOST_TEST(strict.failed(0, command, kind));
    BOOST_TEST(!strict.convicts(0, command));
    strict.succeeded(1, command);
    BOOST_TEST(strict.convicts(0, command));
}

// Names come from callers and workers, who may make up any number of them.
BOOST_AUTO_TEST_CASE(any_number_of_commands_and_kinds) {
    for (int i = 0; i < 10'000; ++i) {
        streaks.failed(0, std::to_string(i % 3000), std::to_string(i));
        streaks.succeeded(1, std::to_string(i % 1700));
    }
    streaks.started(0);
    fail(3);
    siblings_answer();
    BOOST_TEST(convicts());
}

BOOST_AUTO_TEST_SUITE_END()
