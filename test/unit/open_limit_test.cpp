// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/open_limit.hpp"
#include "support/start_time.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(open_limit_test)

namespace {

/// Returns how many of `count` requests are admitted.
int admitted(open_limit& limit, const std::string& client, int count, time_point now) {
    int links = 0;
    for (int i = 0; i < count; ++i) {
        links += limit.admit("_INBOX." + client + "." + std::to_string(i), now) ? 1 : 0;
    }
    return links;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_client_opens_so_many_links_a_second) {
    open_limit limit(100);
    BOOST_TEST(admitted(limit, "a", 150, start) == 100);
    BOOST_TEST(admitted(limit, "a", 150, start + 500ms) == 50);
    BOOST_TEST(admitted(limit, "a", 150, start + 1500ms) == 100);
}

BOOST_AUTO_TEST_CASE(each_client_has_its_own_limit) {
    open_limit limit(100);
    BOOST_TEST(admitted(limit, "a", 150, start) == 100);
    BOOST_TEST(admitted(limit, "b", 150, start) == 100);
    BOOST_TEST(limit.clients() == 2u);
}

BOOST_AUTO_TEST_CASE(a_client_that_asks_again_and_again_is_not_forgotten) {
    open_limit limit(100);
    int links = 0;
    for (int i = 0; i < 100; ++i) {
        links += admitted(limit, "a", 50, start + i * 50ms);
    }
    BOOST_TEST(links >= 550);
    BOOST_TEST(links <= 600); // in five seconds, with one burst
}

BOOST_AUTO_TEST_CASE(strangers_beyond_the_most_share_one_limit) {
    open_limit limit(100);
    const auto most = static_cast<int>(open_limit::most_clients);
    for (int i = 0; i < most; ++i) {
        BOOST_TEST(admitted(limit, std::to_string(i), 1, start) == 1);
    }
    int links = 0;
    for (int i = 0; i < 1000; ++i) {
        links += admitted(limit, "x" + std::to_string(i), 1, start);
    }
    BOOST_TEST(links == 100);
    BOOST_TEST(limit.clients() == open_limit::most_clients);
    BOOST_TEST(admitted(limit, "7", 1, start) == 1);
    BOOST_TEST(admitted(limit, "new", 1, start + 1s) == 1);
    BOOST_TEST(limit.clients() == 1u);
}

BOOST_AUTO_TEST_CASE(a_subject_of_one_part_is_a_client) {
    open_limit limit(1);
    BOOST_TEST(limit.admit("x", start));
    BOOST_TEST(!limit.admit("x", start));
    BOOST_TEST(limit.admit("", start));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
