// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/node_ejection.hpp"
#include "support/start_time.hpp"

#include <boost/test/unit_test.hpp>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(node_ejection_test)

namespace {

bool lose(node_ejection& node, int links, time_point now) {
    bool is_ejected = false;
    for (int i = 0; i < links; ++i) {
        is_ejected = node.lost(true, now) || is_ejected;
    }
    return is_ejected;
}

} // namespace

BOOST_AUTO_TEST_CASE(lost_links_in_a_row_eject_a_node) {
    node_ejection node;
    BOOST_TEST(!lose(node, 4, start));
    BOOST_TEST(!node.is_ejected());
    BOOST_TEST(lose(node, 1, start));
    BOOST_TEST(node.is_ejected());
    BOOST_TEST((node.until() == start + 5s));
}

BOOST_AUTO_TEST_CASE(a_link_that_holds_ends_the_row) {
    node_ejection node;
    BOOST_TEST(!lose(node, 4, start));
    BOOST_TEST(!node.answered(start, start + 10s));
    BOOST_TEST(!lose(node, 4, start + 10s));
    BOOST_TEST(lose(node, 1, start + 10s));
}

BOOST_AUTO_TEST_CASE(an_answer_on_a_young_link_does_not) {
    node_ejection node;
    BOOST_TEST(!lose(node, 4, start));
    BOOST_TEST(!node.answered(start, start + 10s - 1ns));
    BOOST_TEST(lose(node, 1, start + 10s));
}

BOOST_AUTO_TEST_CASE(the_last_nodes_are_not_ejected) {
    node_ejection node;
    for (int i = 0; i < 10; ++i) {
        BOOST_TEST(!node.lost(false, start));
    }
    BOOST_TEST(!node.is_ejected());
    BOOST_TEST(node.lost(true, start)); // others are well again
}

BOOST_AUTO_TEST_CASE(an_answer_ends_the_ejection) {
    node_ejection node;
    lose(node, 5, start);
    BOOST_TEST(node.answered(start + 5s, start + 5s));
    BOOST_TEST(!node.is_ejected());
    BOOST_TEST(!node.answered(start + 5s, start + 5s));
    BOOST_TEST(!lose(node, 4, start + 5s));
}

BOOST_AUTO_TEST_CASE(each_failed_trial_doubles_the_time) {
    node_ejection node;
    auto now = start;
    lose(node, 5, now);
    for (const auto wait : {5s, 10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
        BOOST_TEST((node.until() - now == wait));
        now += wait;
        BOOST_TEST(node.lost(false, now)); // it was ejected before
    }
}

BOOST_AUTO_TEST_CASE(so_does_a_relapse) {
    node_ejection node;
    auto now = start;
    lose(node, 5, now);
    const auto readmit_and_eject_after = [&](duration span) {
        now = node.until();
        node.answered(now, now);
        now += span;
        lose(node, 5, now);
        return node.until() - now;
    };
    BOOST_TEST((readmit_and_eject_after(1s) == 10s));
    BOOST_TEST((readmit_and_eject_after(9s) == 20s));
    BOOST_TEST((readmit_and_eject_after(20s) == 5s)); // it was well for long enough
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
