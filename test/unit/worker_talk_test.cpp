// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/worker_talk.hpp"

#include <boost/test/unit_test.hpp>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(worker_talk_test)

namespace {

const time_point start = time_point() + 1h;

/// How many messages pass in ten seconds of a worker that says nothing else.
double per_second(talk kind, std::size_t reading) {
    worker_talk told;
    auto now = start;
    double count = 0;
    while (now < start + 10s) {
        told.record(kind, reading);
        now = told.charge(now);
        ++count;
    }
    return count / 10;
}

} // namespace

BOOST_AUTO_TEST_CASE(answers_cost_nothing) {
    worker_talk told;
    for (int i = 0; i < 1000; ++i) {
        told.record(talk::answer, 1u << 30);
    }
    BOOST_TEST(!told.is_to_be_charged());
    BOOST_TEST((told.charge(start) == start));
}

BOOST_AUTO_TEST_CASE(what_is_said_unasked_has_a_fiftieth_of_the_time) {
    BOOST_TEST(per_second(talk::unasked, 2'000) > 4'990);
    BOOST_TEST(per_second(talk::unasked, 2'000) < 5'050);
    BOOST_TEST(per_second(talk::unasked, 5'000'000) < 5); // each of 5 ms
}

BOOST_AUTO_TEST_CASE(tool_calls_have_a_tenth) {
    BOOST_TEST(per_second(talk::tool_call, 1'000) > 19'990);
    BOOST_TEST(per_second(talk::tool_call, 1'000) < 20'200);
    BOOST_TEST(per_second(talk::tool_call, 50'000'000) < 3);
}

BOOST_AUTO_TEST_CASE(a_burst_passes_and_then_what_was_taken_is_paid_for) {
    worker_talk told;
    told.record(talk::unasked, 5'998'000); // at five times its price
    BOOST_TEST((told.charge(start) == start));
    told.record(talk::tool_call, 9'996'000);
    BOOST_TEST((told.charge(start) == start + 400ms));
}

BOOST_AUTO_TEST_CASE(who_says_little_never_waits) {
    worker_talk told;
    for (auto now = start; now < start + 10s; now += 20ms) {
        told.record(talk::unasked, 50'000); // a report of 20 KiB each time
        told.record(talk::tool_call, 500'000);
        BOOST_TEST((told.charge(now) == now));
    }
}

BOOST_AUTO_TEST_CASE(bytes_that_trickle_in_have_a_tenth_unless_they_complete_something) {
    for (const std::size_t bytes : {1u, 1023u, 1024u, 100'000u}) {
        worker_talk told;
        auto now = start;
        int count = 0;
        for (; now < start + 1s && count < 100'000; ++count) {
            told.begin_turn(bytes);
            now = told.is_to_be_charged() ? told.charge(now) : now;
        }
        BOOST_TEST((count < 30'000) == (bytes < 1024), bytes);
    }
    worker_talk told;
    told.begin_turn(1024);
    BOOST_TEST(!told.is_to_be_charged());
    for (int i = 0; i < 100'000; ++i) {
        told.begin_turn(40);
        told.record(talk::answer, 0);
        BOOST_REQUIRE(!told.is_to_be_charged());
    }
}

BOOST_AUTO_TEST_CASE(little_is_read_at_a_time_while_there_is_something_to_charge_for) {
    worker_talk told;
    BOOST_TEST(told.most_to_read() == static_cast<std::size_t>(-1));
    told.record(talk::unasked, 100);
    BOOST_TEST(told.is_to_be_charged());
    told.charge(start);
    BOOST_TEST(told.most_to_read() == 8u << 10);
    BOOST_TEST(!told.is_to_be_charged());
    told.charge(start); // half a message has come
    BOOST_TEST(told.most_to_read() == 8u << 10);
    told.record(talk::answer, 100);
    BOOST_TEST(told.is_to_be_charged()); // so that the next read is of any size again
    told.charge(start);
    BOOST_TEST(told.most_to_read() == static_cast<std::size_t>(-1));
    BOOST_TEST(!told.is_to_be_charged());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
