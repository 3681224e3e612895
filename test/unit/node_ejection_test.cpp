// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/node_ejection.hpp"
#include "support/start_time.hpp"

#include <boost/test/unit_test.hpp>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(node_ejection_test)

namespace {

struct ejected_node {
    ejected_node() {
        for (int i = 0; i < 5; ++i) {
            node.lost(true, now);
        }
    }

    node_ejection node{ejection_limits()};
    time_point now = start;
};

} // namespace

BOOST_AUTO_TEST_CASE(losses_in_a_row_eject_a_node) {
    node_ejection node{ejection_limits()};
    for (int i = 0; i < 4; ++i) {
        BOOST_TEST(!node.lost(true, start));
    }
    BOOST_TEST(node.is_open(start));
    BOOST_TEST(node.lost(true, start));
    BOOST_TEST(node.is_ejected());
    BOOST_TEST(!node.is_open(start));
    BOOST_TEST(!node.is_open(start + 4999ms));
    BOOST_TEST(node.is_open(start + 5s));
    BOOST_TEST((node.until() == start + 5s));
}

BOOST_AUTO_TEST_CASE(a_success_ends_the_row) {
    node_ejection node{ejection_limits()};
    for (int i = 0; i < 9; ++i) {
        BOOST_TEST(!node.lost(true, start + i * 11s)); // each in a window of its own
        if (i % 4 == 3) {
            BOOST_TEST(!node.succeeded(start + i * 11s));
        }
    }
    BOOST_TEST(!node.is_ejected());
}

BOOST_AUTO_TEST_CASE(so_does_more_than_half_of_a_sample) {
    node_ejection node{ejection_limits()};
    const auto lose_two_of_three = [&](int rounds, time_point now) {
        bool is_ejected = false;
        for (int i = 0; i < rounds; ++i) {
            node.succeeded(now);
            is_ejected = node.lost(true, now) || is_ejected;
            is_ejected = node.lost(true, now) || is_ejected;
        }
        return is_ejected;
    };
    BOOST_TEST(!lose_two_of_three(6, start)); // 18 calls
    BOOST_TEST(!lose_two_of_three(6, start + 10s));
    BOOST_TEST(lose_two_of_three(1, start + 15s));
}

BOOST_AUTO_TEST_CASE(half_of_the_calls_may_be_lost) {
    node_ejection node{ejection_limits()};
    for (int i = 0; i < 100; ++i) {
        node.succeeded(start);
        BOOST_TEST(!node.lost(true, start));
    }
}

BOOST_AUTO_TEST_CASE(the_last_nodes_are_not_ejected) {
    node_ejection node{ejection_limits()};
    for (int i = 0; i < 10; ++i) {
        BOOST_TEST(!node.lost(false, start));
    }
    BOOST_TEST(node.is_open(start));
    BOOST_TEST(node.lost(true, start)); // others are well again
}

BOOST_AUTO_TEST_CASE(one_call_at_a_time_tries_an_ejected_node) {
    ejected_node of;
    of.now += 5s;
    of.node.sent(of.now);
    BOOST_TEST(!of.node.is_open(of.now));
    of.node.dropped(); // its caller has given up
    BOOST_TEST(of.node.is_open(of.now));
    of.node.sent(of.now);
    BOOST_TEST(of.node.succeeded(of.now));
    BOOST_TEST(!of.node.is_ejected());
    of.node.sent(of.now);
    BOOST_TEST(of.node.is_open(of.now));
}

BOOST_AUTO_TEST_CASE(each_failed_trial_doubles_the_time) {
    ejected_node of;
    for (const auto wait : {5s, 10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
        BOOST_TEST((*of.node.until() - of.now == wait));
        of.now += wait;
        of.node.sent(of.now);
        BOOST_TEST(of.node.lost(false, of.now)); // it was ejected before
    }
}

BOOST_AUTO_TEST_CASE(so_does_a_relapse) {
    ejected_node of;
    const auto readmit_and_eject_after = [&](duration span) {
        of.now = *of.node.until();
        of.node.sent(of.now);
        of.node.succeeded(of.now);
        of.now += span;
        for (int i = 0; i < 5; ++i) {
            of.node.lost(true, of.now);
        }
        return *of.node.until() - of.now;
    };
    BOOST_TEST((readmit_and_eject_after(1s) == 10s));
    BOOST_TEST((readmit_and_eject_after(9s) == 20s));
    BOOST_TEST((readmit_and_eject_after(20s) == 5s)); // it was well for long enough
}

BOOST_AUTO_TEST_CASE(calls_from_before_the_ejection_change_nothing) {
    ejected_node of;
    BOOST_TEST(!of.node.succeeded(of.now + 1s));
    BOOST_TEST(!of.node.lost(true, of.now + 1s));
    BOOST_TEST((of.node.until() == of.now + 5s));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
