// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/recalled_calls.hpp"

#include <boost/test/unit_test.hpp>

#include <thread>
#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(recalled_calls_test)

BOOST_AUTO_TEST_CASE(a_call_that_has_not_begun_never_begins) {
    recalled_calls calls;
    BOOST_TEST(calls.begin(1));
    BOOST_TEST(calls.recall(3));
    BOOST_TEST(calls.begin(2));
    BOOST_TEST(!calls.begin(3));
    BOOST_TEST(calls.begin(4));
}

BOOST_AUTO_TEST_CASE(a_call_that_has_begun_is_not_given_back) {
    recalled_calls calls;
    BOOST_TEST(calls.begin(1));
    BOOST_TEST(calls.begin(2));
    BOOST_TEST(!calls.recall(1));
    BOOST_TEST(!calls.recall(2));
    BOOST_TEST(calls.begin(3));
}

/// A cancelled call may begin out of turn.
BOOST_AUTO_TEST_CASE(a_call_that_others_have_overtaken_is_not_given_back) {
    recalled_calls calls;
    BOOST_TEST(calls.begin(3));
    BOOST_TEST(!calls.recall(2));
    BOOST_TEST(calls.begin(2));
}

BOOST_AUTO_TEST_CASE(of_two_threads_one_gets_the_call) {
    constexpr std::uint64_t count = 20'000;
    recalled_calls calls;
    std::vector<char> begun(count + 1);
    std::vector<char> returned(count + 1);
    std::thread listener([&] {
        for (std::uint64_t id = 1; id <= count; ++id) {
            returned[id] = calls.recall(id) ? 1 : 0;
        }
    });
    for (std::uint64_t id = 1; id <= count; ++id) {
        begun[id] = calls.begin(id) ? 1 : 0;
    }
    listener.join();
    std::uint64_t wrong = 0;
    for (std::uint64_t id = 1; id <= count; ++id) {
        wrong += begun[id] + returned[id] == 1 ? 0 : 1;
    }
    BOOST_TEST(wrong == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
