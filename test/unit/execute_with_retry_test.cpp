// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/execute_with_retry.hpp>

#include <boost/test/unit_test.hpp>

#include <new>
#include <stdexcept>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(execute_with_retry_test)

namespace {

/// Has no memory for so many functions, then runs what it is given.
struct poor_executor {
    int& shortages;
    int& attempts;

    template <class Function>
    void execute(Function&& function) const {
        ++attempts;
        if (shortages-- > 0) {
            throw std::bad_alloc();
        }
        function();
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(one_lack_of_memory_is_got_over) {
    for (int lacks = 0; lacks <= 1; ++lacks) {
        int shortages = lacks;
        int attempts = 0;
        int runs = 0;
        execute_with_retry(poor_executor{shortages, attempts}, [&] { ++runs; });
        BOOST_TEST(runs == 1);
        BOOST_TEST(attempts == lacks + 1);
    }
}

BOOST_AUTO_TEST_CASE(a_second_one_is_told) {
    int shortages = 2;
    int attempts = 0;
    int runs = 0;
    BOOST_CHECK_THROW(execute_with_retry(poor_executor{shortages, attempts}, [&] { ++runs; }),
                      std::bad_alloc);
    BOOST_TEST(runs == 0);
    BOOST_TEST(attempts == 2);
}

BOOST_AUTO_TEST_CASE(what_else_is_thrown_is_told_at_once) {
    int shortages = 0;
    int attempts = 0;
    BOOST_CHECK_THROW(
        execute_with_retry(poor_executor{shortages, attempts}, [] { throw std::runtime_error("no"); }),
        std::runtime_error);
    BOOST_TEST(attempts == 1);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
