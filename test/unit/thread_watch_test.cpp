// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/thread_watch.hpp"

#include <boost/test/unit_test.hpp>

#include <thread>

namespace skep {

namespace {

std::thread::id id_of_another_thread() {
    std::thread::id id;
    std::thread([&] { id = std::this_thread::get_id(); }).join();
    return id;
}

const std::thread::id here = std::this_thread::get_id();

} // namespace

BOOST_AUTO_TEST_SUITE(thread_watch_tests)

BOOST_AUTO_TEST_CASE(one_thread_is_nothing_to_notice) {
    thread_watch watch;
    for (int i = 0; i < 5; ++i) {
        BOOST_TEST(!watch.observe(here));
    }
}

BOOST_AUTO_TEST_CASE(a_context_may_be_passed_on) {
    const auto there = id_of_another_thread();
    thread_watch watch;
    for (const auto id : {here, there, here, there, there}) {
        BOOST_TEST(!watch.observe(id));
    }
}

BOOST_AUTO_TEST_CASE(threads_that_take_turns_are_noticed_once) {
    const auto there = id_of_another_thread();
    thread_watch watch;
    int noticed = 0;
    for (int i = 0; i < 100; ++i) {
        noticed += watch.observe(here) ? 1 : 0;
        noticed += watch.observe(there) ? 1 : 0;
    }
    BOOST_TEST(noticed == 1);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep
