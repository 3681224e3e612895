// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/growth_watch.hpp"
#include "support/start_time.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>

using namespace skep;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(growth_watch_test)

namespace {

using test::start;
constexpr std::uint64_t limit = 1000;

} // namespace

BOOST_AUTO_TEST_CASE(nothing_is_known_before_the_first_look) {
    BOOST_TEST(!growth_watch().is_of_oldest_call(limit));
}

BOOST_AUTO_TEST_CASE(a_call_that_takes_half_of_the_room_is_to_blame) {
    for (const std::uint64_t grown : {401, 400, 399, 0}) {
        growth_watch watch;
        watch.sample(200, start, {});
        watch.sample(200 + grown, start + 2s, start + 1s);
        BOOST_TEST(watch.is_of_oldest_call(limit) == (grown >= 400), grown);
    }
}

BOOST_AUTO_TEST_CASE(what_it_takes_bit_by_bit_adds_up) {
    growth_watch watch;
    watch.sample(200, start, {});
    for (int i = 1; i <= 8; ++i) {
        watch.sample(200 + 100u * static_cast<unsigned>(i), start + i * 1s, start + 500ms);
    }
    BOOST_TEST(watch.is_of_oldest_call(limit));
}

BOOST_AUTO_TEST_CASE(of_a_leak_no_call_is_to_blame) {
    growth_watch watch;
    watch.sample(200, start, {});
    for (int i = 1; i <= 8; ++i) { // each time another call
        watch.sample(200 + 100u * static_cast<unsigned>(i), start + i * 1s, start + i * 1s - 500ms);
        BOOST_TEST(!watch.is_of_oldest_call(limit));
    }
}

BOOST_AUTO_TEST_CASE(a_call_that_begins_as_the_worker_is_looked_at_begins_with_what_is_seen) {
    growth_watch watch;
    watch.sample(200, start, {});
    for (int i = 1; i <= 8; ++i) {
        watch.sample(200 + 100u * static_cast<unsigned>(i), start + i * 1s, start + (i - 1) * 1s);
        BOOST_TEST(!watch.is_of_oldest_call(limit));
    }
    watch.sample(1000 + 400, start + 10s, start + 8s);
    BOOST_TEST(watch.is_of_oldest_call(limit));
}

BOOST_AUTO_TEST_CASE(what_it_held_before_the_call_does_not_count) {
    growth_watch watch;
    watch.sample(200, start, {});
    watch.sample(900, start + 1s, {});
    watch.sample(1001, start + 3s, start + 2s);
    BOOST_TEST(!watch.is_of_oldest_call(limit));
}

BOOST_AUTO_TEST_CASE(one_that_shrinks_has_not_grown) {
    growth_watch watch;
    watch.sample(900, start, {});
    watch.sample(100, start + 2s, start + 1s);
    BOOST_TEST(!watch.is_of_oldest_call(limit));
}

BOOST_AUTO_TEST_CASE(one_that_is_beyond_the_limit_from_the_start_says_nothing_of_calls) {
    for (const auto fresh : {limit, limit + 1, std::numeric_limits<std::uint64_t>::max()}) {
        growth_watch watch;
        watch.sample(fresh, start, {});
        watch.sample(fresh, start + 2s, start + 1s);
        BOOST_TEST(!watch.is_of_oldest_call(limit));
    }
}

BOOST_AUTO_TEST_SUITE_END()
