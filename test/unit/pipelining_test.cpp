// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/pipelining.hpp"

#include <boost/test/unit_test.hpp>

#include <ostream>
#include <string>

namespace skep {

std::ostream& operator<<(std::ostream& out, pace value) {
    return out << static_cast<int>(value);
}

} // namespace skep

namespace {

using namespace skep;
using namespace std::chrono_literals;

pace after(duration run_time) {
    pipelining policy;
    policy.record("one", run_time);
    return policy.pace_of("one");
}

} // namespace

BOOST_AUTO_TEST_SUITE(automatic_pipelining)

BOOST_AUTO_TEST_CASE(an_unknown_command_is_slow) {
    pipelining policy;
    policy.record("other", 10us);
    BOOST_TEST(policy.pace_of("one") == pace::slow);
}

BOOST_AUTO_TEST_CASE(the_first_call_decides_until_there_are_more) {
    BOOST_TEST(after(0us) == pace::fast);
    BOOST_TEST(after(50us - 1ns) == pace::fast);
    BOOST_TEST(after(50us) == pace::brisk);
    BOOST_TEST(after(1ms - 1ns) == pace::brisk);
    BOOST_TEST(after(1ms) == pace::slow);
    BOOST_TEST(after(1h) == pace::slow);
}

BOOST_AUTO_TEST_CASE(the_slower_the_calls_the_fewer_are_sent_ahead) {
    BOOST_TEST(most_ahead(pace::slow) == 0u);
    BOOST_TEST(most_ahead(pace::brisk) == 1u);
    BOOST_TEST(most_ahead(pace::fast) == 4u);
}

BOOST_AUTO_TEST_CASE(each_call_moves_the_mean_by_a_sixteenth) {
    pipelining policy;
    policy.record("one", 800us);
    policy.record("one", 4ms - 1us); // 800 + 3199 / 16 = 999.9
    BOOST_TEST(policy.pace_of("one") == pace::brisk);
    policy.record("one", 1100us);
    BOOST_TEST(policy.pace_of("one") == pace::slow);
}

BOOST_AUTO_TEST_CASE(a_slow_first_call_is_forgotten) {
    pipelining policy;
    policy.record("one", 50ms); // it imported a library
    int calls = 0;
    while (policy.pace_of("one") == pace::slow && calls < 1000) {
        policy.record("one", 100us);
        ++calls;
    }
    BOOST_TEST(calls > 50);
    BOOST_TEST(calls < 100);
}

BOOST_AUTO_TEST_CASE(it_remembers_a_limited_number_of_commands) {
    pipelining policy;
    for (int i = 0; i < 256; ++i) {
        policy.record(std::to_string(i), 10us);
    }
    BOOST_TEST(policy.pace_of("0") == pace::fast);
    policy.record("0", 10us);
    BOOST_TEST(policy.pace_of("255") == pace::fast);
    policy.record("256", 10us);
    BOOST_TEST(policy.pace_of("0") == pace::slow);
    BOOST_TEST(policy.pace_of("256") == pace::fast);
}

BOOST_AUTO_TEST_SUITE_END()
