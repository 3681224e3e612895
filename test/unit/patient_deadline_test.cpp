// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/patient_deadline.hpp"

#include <boost/test/unit_test.hpp>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(patient_deadline_test)

namespace {

const time_point start = time_point() + 1h;

} // namespace

BOOST_AUTO_TEST_CASE(passes_when_it_is_looked_at_in_time) {
    patient_deadline deadline(start + 10s, 10s);
    BOOST_TEST(!deadline.has_passed(start + 9999ms));
    BOOST_TEST(deadline.has_passed(start + 10s));
    BOOST_TEST((deadline.due() == start + 10s));
}

BOOST_AUTO_TEST_CASE(a_host_that_looks_a_little_late_changes_nothing) {
    BOOST_TEST(patient_deadline(start, 10s).has_passed(start + 1s));
    BOOST_TEST(patient_deadline(start, 1s).has_passed(start + 500ms));
    BOOST_TEST(patient_deadline(start, 10ms).has_passed(start + 100ms));
}

BOOST_AUTO_TEST_CASE(a_host_that_has_slept_through_it_grants_the_time_anew_and_once) {
    patient_deadline deadline(start, 10s);
    BOOST_TEST(!deadline.has_passed(start + 5s));
    BOOST_TEST((deadline.due() == start + 15s));
    BOOST_TEST(!deadline.has_passed(start + 14s));
    BOOST_TEST(deadline.has_passed(start + 1h));
    BOOST_TEST(deadline.has_passed(start + 2h));
}

BOOST_AUTO_TEST_CASE(no_time_at_all_is_not_granted_anew) {
    BOOST_TEST(patient_deadline(start, 0s).has_passed(start + 5s));
    BOOST_TEST(!patient_deadline(time_point::max(), 0s).has_passed(start));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
