// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/worker_budget.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(sharing_workers)

BOOST_AUTO_TEST_CASE(without_a_budget_there_is_no_limit) {
    worker_share share;
    BOOST_TEST(share.reserve(10));
    BOOST_TEST(share.grow_to(10'000) == 10'000u);
    BOOST_TEST(share.most() == std::numeric_limits<std::size_t>::max());
    share.shrink_to(0);
    share.release();
}

BOOST_AUTO_TEST_CASE(a_pool_grows_no_further_than_what_is_left) {
    const auto budget = std::make_shared<worker_budget>(10);
    worker_share first(budget);
    worker_share second(budget);
    BOOST_TEST(first.reserve(2));
    BOOST_TEST(second.reserve(3));
    BOOST_TEST(first.most() == 7u);
    BOOST_TEST(first.grow_to(5) == 5u);
    BOOST_TEST(second.most() == 5u);
    BOOST_TEST(second.grow_to(9) == 5u);
    BOOST_TEST(budget->left() == 0u);
    BOOST_TEST(first.grow_to(6) == 5u);
    BOOST_TEST(first.grow_to(4) == 4u);
}

BOOST_AUTO_TEST_CASE(the_least_number_of_a_pool_is_never_given_to_another) {
    const auto budget = std::make_shared<worker_budget>(10);
    worker_share quiet(budget);
    worker_share greedy(budget);
    BOOST_TEST(quiet.reserve(4));
    BOOST_TEST(greedy.reserve(1));
    BOOST_TEST(greedy.grow_to(100) == 6u);
    quiet.shrink_to(0);
    BOOST_TEST(greedy.grow_to(100) == 6u);
    BOOST_TEST(quiet.grow_to(4) == 4u);
}

BOOST_AUTO_TEST_CASE(what_is_given_back_is_anybodys) {
    const auto budget = std::make_shared<worker_budget>(4);
    worker_share first(budget);
    BOOST_TEST(first.reserve(1));
    BOOST_TEST(first.grow_to(4) == 4u);
    first.shrink_to(2);
    BOOST_TEST(budget->left() == 2u);
    {
        worker_share second(budget);
        BOOST_TEST(second.grow_to(2) == 2u);
        worker_share moved(std::move(second));
        second.release(); // of nothing
        BOOST_TEST(budget->left() == 0u);
        first = std::move(moved); // whose places are given back
        BOOST_TEST(budget->left() == 2u);
    }
    BOOST_TEST(budget->left() == 2u);
    first.release();
    first.release();
    BOOST_TEST(budget->left() == 4u);
}

BOOST_AUTO_TEST_CASE(a_reservation_is_changed_wholly_or_not_at_all) {
    const auto budget = std::make_shared<worker_budget>(5);
    worker_share first(budget);
    worker_share second(budget);
    BOOST_TEST(first.reserve(2));
    BOOST_TEST(!second.reserve(4));
    BOOST_TEST(budget->left() == 3u);
    BOOST_TEST(second.reserve(3));
    BOOST_TEST(!first.reserve(3));
    BOOST_TEST(second.reserve(1));
    BOOST_TEST(budget->left() == 0u); // the places are held until the pool has shrunk
    second.shrink_to(1);
    BOOST_TEST(first.reserve(4));
    first.shrink_to(0);
    BOOST_TEST(budget->left() == 0u);
}

BOOST_AUTO_TEST_CASE(threads_never_have_more_than_there_is) {
    constexpr std::size_t most = 20;
    const auto budget = std::make_shared<worker_budget>(most);
    std::vector<std::size_t> worst(4);
    std::vector<std::thread> pools;
    for (std::size_t i = 0; i < worst.size(); ++i) {
        pools.emplace_back([&, i] {
            std::minstd_rand random(static_cast<unsigned>(i));
            worker_share share(budget);
            share.reserve(2);
            for (int turn = 0; turn < 10'000; ++turn) {
                share.grow_to(random() % 15);
                worst[i] = std::max(worst[i], share.most()); // its own and what is left: never more than all
                share.shrink_to(random() % 15);
            }
        });
    }
    for (auto& each : pools) {
        each.join();
    }
    for (const auto seen : worst) {
        BOOST_TEST(seen <= most);
    }
    BOOST_TEST(budget->left() == most);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
