// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/template_life.hpp"
#include "support/start_time.hpp"

#include <boost/test/unit_test.hpp>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

constexpr duration window_of_templates = 60s;

} // namespace

BOOST_AUTO_TEST_SUITE(template_life_test)

BOOST_AUTO_TEST_CASE(the_first_start_makes_a_template_and_later_ones_use_it) {
    template_life life(window_of_templates);
    BOOST_TEST(!life.is_ready());
    BOOST_TEST((life.next(start) == template_step::make));
    life.on_ready();
    BOOST_TEST(life.is_ready());
    BOOST_TEST((life.next(start + 1h) == template_step::use));
}

BOOST_AUTO_TEST_CASE(a_template_that_has_ended_is_made_again) {
    template_life life(window_of_templates);
    life.on_ready();
    life.on_end(start);
    BOOST_TEST(!life.is_ready());
    BOOST_TEST(!life.has_ended_often(start));
    BOOST_TEST((life.next(start) == template_step::make));
}

BOOST_AUTO_TEST_CASE(after_two_ends_workers_start_without_it_until_the_window_is_over) {
    template_life life(window_of_templates);
    life.on_end(start);
    life.on_end(start + 59s);
    BOOST_TEST(life.has_ended_often(start + 59s));
    BOOST_TEST((life.next(start + window_of_templates - 1ns) == template_step::exec));
    BOOST_TEST((life.next(start + window_of_templates) == template_step::make));
    life.on_end(start + window_of_templates);
    BOOST_TEST((life.next(start + window_of_templates) == template_step::exec));
    BOOST_TEST((life.next(start + 59s + window_of_templates) == template_step::make));
}

BOOST_AUTO_TEST_CASE(ends_that_are_far_apart_do_not_count_together) {
    template_life life(window_of_templates);
    life.on_end(start);
    life.on_end(start + window_of_templates);
    BOOST_TEST(!life.has_ended_often(start + window_of_templates));
    BOOST_TEST((life.next(start + window_of_templates) == template_step::make));
}

BOOST_AUTO_TEST_CASE(a_refused_template_stays_refused) {
    template_life life(window_of_templates);
    life.on_refused();
    BOOST_TEST(!life.is_ready());
    BOOST_TEST((life.next(start + 1000h) == template_step::exec));
}

BOOST_AUTO_TEST_CASE(a_template_is_barren_after_two_failed_forks_in_a_row) {
    template_life life(window_of_templates);
    life.on_ready();
    life.on_fork(false);
    BOOST_TEST(!life.is_barren());
    life.on_fork(true);
    life.on_fork(false);
    BOOST_TEST(!life.is_barren());
    life.on_fork(false);
    BOOST_TEST(life.is_barren());
    life.on_end(start);
    life.on_ready();
    BOOST_TEST(!life.is_barren());
}

BOOST_AUTO_TEST_CASE(a_template_that_is_kept_for_lack_of_a_new_one_keeps_its_failed_forks) {
    template_life life(window_of_templates);
    life.on_ready();
    life.on_fork(false);
    life.renew();
    life.on_kept();
    BOOST_TEST(life.is_ready());
    life.on_fork(false);
    BOOST_TEST(life.is_barren());
}

BOOST_AUTO_TEST_CASE(a_new_script_begins_anew) {
    template_life life(window_of_templates);
    life.on_end(start);
    life.on_end(start);
    life.on_refused();
    life.renew();
    BOOST_TEST((life.next(start) == template_step::make));
    life.on_end(start);
    BOOST_TEST(!life.has_ended_often(start));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
