// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/retry_budget.hpp"

#include <boost/test/unit_test.hpp>

#include <utility>
#include <vector>

using namespace skep;

BOOST_AUTO_TEST_SUITE(retry_budget_test)

namespace {

retry_options with_budget(std::size_t budget, double ratio = 0.1) {
    retry_options options;
    options.budget = budget;
    options.budget_ratio = ratio;
    return options;
}

int spend_all(retry_budget& budget) {
    int admitted = 0;
    while (budget.spend() && admitted < 1000) {
        ++admitted;
    }
    return admitted;
}

} // namespace

BOOST_AUTO_TEST_CASE(retries_stop_at_half) {
    retry_budget budget(retry_options{}); // 10
    for (int left = 9; left > 5; --left) {
        BOOST_TEST(budget.spend());
        BOOST_TEST(budget.tokens() == left);
    }
    BOOST_TEST(!budget.spend());
    BOOST_TEST(budget.tokens() == 5);
}

BOOST_AUTO_TEST_CASE(what_is_refused_costs_too_but_never_more_than_there_is) {
    retry_budget budget(with_budget(10));
    for (int i = 0; i < 100; ++i) {
        budget.spend();
    }
    BOOST_TEST(budget.tokens() == 0);
}

BOOST_AUTO_TEST_CASE(successes_earn_it_back_little_by_little) {
    retry_budget budget(with_budget(10, 0.25));
    spend_all(budget); // 5 left
    for (int i = 0; i < 4; ++i) {
        budget.succeeded();
    }
    BOOST_TEST(!budget.spend()); // 6 less one are not more than half
    for (int i = 0; i < 5; ++i) {
        budget.succeeded();
    }
    BOOST_TEST(budget.spend());
}

BOOST_AUTO_TEST_CASE(it_never_holds_more_than_its_size) {
    retry_budget budget(with_budget(10));
    for (int i = 0; i < 1000; ++i) {
        budget.succeeded();
    }
    BOOST_TEST(budget.tokens() == 10);
    BOOST_TEST(spend_all(budget) == 4);
}

BOOST_AUTO_TEST_CASE(how_many_retries_a_full_budget_admits) {
    for (const auto& [size, admitted] : std::vector<std::pair<std::size_t, int>>{
             {1, 0}, {2, 0}, {3, 1}, {4, 1}, {5, 2}, {10, 4}, {100, 49}, {1000, 499}}) {
        retry_budget budget(with_budget(size));
        BOOST_TEST(spend_all(budget) == admitted, "budget " << size);
    }
}

BOOST_AUTO_TEST_CASE(zero_is_no_budget) {
    retry_budget budget(with_budget(0));
    budget.succeeded();
    for (int i = 0; i < 1000; ++i) {
        BOOST_TEST(budget.spend());
    }
    BOOST_TEST(budget.tokens() == 0);
}

// The point of it: where every call is lost, retries do not add to the load for ever.
BOOST_AUTO_TEST_CASE(in_an_outage_retries_die_out_and_afterwards_they_return) {
    retry_budget budget(retry_options{});
    int retries = 0;
    for (int i = 0; i < 10'000; ++i) {
        retries += budget.spend() ? 1 : 0;
    }
    BOOST_TEST(retries == 4);
    for (int i = 0; i < 100; ++i) {
        budget.succeeded();
    }
    BOOST_TEST(budget.spend());
}

// One lost call in twenty leaves the bucket full enough for every one of them.
BOOST_AUTO_TEST_CASE(a_few_losses_are_always_retried) {
    retry_budget budget(retry_options{});
    for (int i = 0; i < 10'000; ++i) {
        for (int ok = 0; ok < 19; ++ok) {
            budget.succeeded();
        }
        BOOST_TEST(budget.spend());
    }
}

BOOST_AUTO_TEST_SUITE_END()
