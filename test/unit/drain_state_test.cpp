// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/drain_state.hpp"

#include <boost/test/unit_test.hpp>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(drain_state_test)

BOOST_AUTO_TEST_CASE(a_drain_begins_once_and_ends) {
    drain_state drain;
    BOOST_TEST(!drain.is_draining());
    BOOST_TEST(drain.begin(drain_cause::administrator));
    BOOST_TEST(!drain.begin(drain_cause::administrator));
    BOOST_TEST(drain.is_draining());
    BOOST_TEST(drain.end(drain_cause::administrator));
    BOOST_TEST(!drain.is_draining());
    BOOST_TEST(drain.begin(drain_cause::administrator));
}

BOOST_AUTO_TEST_CASE(an_operator_does_not_end_the_drain_of_the_program) {
    drain_state drain;
    BOOST_TEST(drain.begin(drain_cause::administrator));
    BOOST_TEST(!drain.begin(drain_cause::program));
    BOOST_TEST(!drain.begin(drain_cause::administrator));
    BOOST_TEST(!drain.end(drain_cause::administrator));
    BOOST_TEST(drain.is_draining());
    BOOST_TEST(drain.end(drain_cause::program));
    BOOST_TEST(!drain.is_draining());
}

BOOST_AUTO_TEST_CASE(nothing_ends_the_drain_of_a_node_that_ends) {
    drain_state drain;
    BOOST_TEST(drain.begin(drain_cause::end));
    BOOST_TEST(!drain.end(drain_cause::program));
    BOOST_TEST(!drain.end(drain_cause::administrator));
    BOOST_TEST(drain.is_draining());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
