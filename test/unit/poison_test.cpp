// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/poison.hpp"
#include "support/start_time.hpp"

#include <boost/test/unit_test.hpp>

using namespace skep;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(poison_test)

namespace {

using test::start;

crash_barrier_options after(int crashes) {
    crash_barrier_options options; // remembers for 10 min
    options.poison_crashes = crashes;
    return options;
}

poison_list::input input(std::uint64_t number) {
    return {number % 1000, {number, 1}};
}

} // namespace

BOOST_AUTO_TEST_CASE(nothing_is_poison_at_first) {
    poison_list list(after(2));
    BOOST_TEST(!list.refuses_any());
    BOOST_TEST(!list.is_poison(input(0), start));
    BOOST_TEST(!list.is_poison(input(7), start));
}

BOOST_AUTO_TEST_CASE(the_second_crash_makes_it_poison_by_default) {
    poison_list list(crash_barrier_options{});
    BOOST_TEST(list.blame(input(7), start) == 1);
    BOOST_TEST(!list.is_poison(input(7), start));
    BOOST_TEST(!list.refuses_any());
    BOOST_TEST(list.blame(input(8), start) == 1); // inputs are counted apart
    BOOST_TEST(list.blame(input(7), start + 1s) == 2);
    BOOST_TEST(list.is_poison(input(7), start + 1s));
    BOOST_TEST(list.refuses_any());
    BOOST_TEST(!list.is_poison(input(8), start + 1s));
}

BOOST_AUTO_TEST_CASE(inputs_that_differ_in_one_bit_are_told_apart) {
    poison_list list(after(1));
    list.blame({7, {1, 2}}, start);
    BOOST_TEST(list.is_poison({7, {1, 2}}, start));
    BOOST_TEST(!list.is_poison({7, {1, 3}}, start));
    BOOST_TEST(!list.is_poison({7, {0, 2}}, start));
}

BOOST_AUTO_TEST_CASE(an_outline_tells_whether_a_digest_need_be_taken) {
    poison_list list(after(2));
    BOOST_TEST(!list.may_refuse(7));
    list.blame({7, {1, 2}}, start);
    BOOST_TEST(!list.may_refuse(7)); // suspected only
    list.blame({7, {1, 2}}, start);
    BOOST_TEST(list.may_refuse(7));
    BOOST_TEST(!list.may_refuse(8));
}

BOOST_AUTO_TEST_CASE(so_many_crashes_make_it_poison) {
    for (const int limit : {1, 2, 3, 100}) {
        poison_list list(after(limit));
        for (int i = 1; i <= limit; ++i) {
            BOOST_TEST(!list.is_poison(input(7), start), "limit " << limit);
            BOOST_TEST(list.blame(input(7), start) == i);
        }
        BOOST_TEST(list.is_poison(input(7), start), "limit " << limit);
    }
}

BOOST_AUTO_TEST_CASE(a_limit_of_zero_refuses_nothing_and_remembers_nothing) {
    poison_list list(after(0));
    for (int i = 0; i < 100; ++i) {
        BOOST_TEST(list.blame(input(7), start) == 0);
    }
    BOOST_TEST(!list.is_poison(input(7), start));
    BOOST_TEST(!list.refuses_any());
}

BOOST_AUTO_TEST_CASE(it_is_forgotten_some_time_after_its_last_crash) {
    poison_list list(after(2));
    list.blame(input(7), start);
    list.blame(input(7), start + 5min);
    BOOST_TEST(list.is_poison(input(7), start + 15min - 1ns));
    BOOST_TEST(!list.is_poison(input(7), start + 15min));
    BOOST_TEST(!list.refuses_any());
    BOOST_TEST(list.blame(input(7), start + 16min) == 1);
}

BOOST_AUTO_TEST_CASE(asking_does_not_keep_it_remembered) {
    poison_list list(after(1));
    list.blame(input(7), start);
    for (auto now = start; now < start + 10min; now += 1s) {
        BOOST_TEST(list.is_poison(input(7), now));
    }
    BOOST_TEST(!list.is_poison(input(7), start + 10min));
}

BOOST_AUTO_TEST_CASE(it_is_bounded_and_the_oldest_go_first) {
    poison_list list(after(1));
    for (std::uint64_t i = 0; i < poison_list::most; ++i) {
        list.blame(input(i), start);
    }
    list.blame(input(0), start); // once more: now input 1 is the oldest
    list.blame(input(1'000'000), start);
    BOOST_TEST(list.is_poison(input(0), start));
    BOOST_TEST(!list.is_poison(input(1), start));
    BOOST_TEST(list.is_poison(input(2), start));
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        list.blame(input(2'000'000 + i), start);
    }
    std::size_t remembered = 0;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        remembered += list.is_poison(input(2'000'000 + i), start) ? 1 : 0;
    }
    BOOST_TEST(remembered == poison_list::most);
}

BOOST_AUTO_TEST_SUITE_END()
