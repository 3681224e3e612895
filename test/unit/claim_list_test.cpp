// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "call/call.hpp"
#include "call/claim_list.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <list>
#include <memory>
#include <random>
#include <vector>

using namespace skep;

BOOST_AUTO_TEST_SUITE(claim_list_test)

namespace {

call_ptr make_call() {
    return call_ptr(new call(request("x"), nullptr));
}

} // namespace

BOOST_AUTO_TEST_CASE(empty) {
    claim_list<call> list;
    BOOST_TEST(list.empty());
    BOOST_TEST(list.size() == 0u);
}

BOOST_AUTO_TEST_CASE(first_in_first_out) {
    const auto a = make_call();
    const auto b = make_call();
    claim_list<call> list;
    list.push_back(a);
    list.push_back(b);
    BOOST_TEST(&list.front() == a.get());
    BOOST_TEST((list.pop_front() == a));
    BOOST_TEST((list.pop_front() == b));
    BOOST_TEST(list.empty());
}

BOOST_AUTO_TEST_CASE(the_front_can_be_taken_by_force) {
    const auto a = make_call();
    const auto b = make_call();
    claim_list<call> list;
    list.push_back(a);
    list.push_front(b);
    BOOST_TEST((list.pop_front() == b));
    BOOST_TEST((list.pop_front() == a));
}

BOOST_AUTO_TEST_CASE(any_can_be_removed) {
    const auto a = make_call();
    const auto b = make_call();
    const auto c = make_call();
    claim_list<call> list;
    list.push_back(a);
    list.push_back(b);
    list.push_back(c);
    BOOST_TEST((list.remove(*b) == b));
    BOOST_TEST(list.size() == 2u);
    BOOST_TEST((list.pop_front() == a));
    BOOST_TEST((list.pop_front() == c));
}

BOOST_AUTO_TEST_CASE(it_holds_one_reference_to_each) {
    const auto a = make_call();
    claim_list<call> list;
    list.push_back(a);
    BOOST_TEST(a->use_count() == 2u);
    list.pop_front();
    BOOST_TEST(a->use_count() == 1u);
    list.push_front(a);
    list.remove(*a);
    BOOST_TEST(a->use_count() == 1u);
}

BOOST_AUTO_TEST_CASE(the_last_reference_may_be_the_lists) {
    claim_list<call> list;
    list.push_back(make_call());
    BOOST_TEST(list.front().use_count() == 1u);
    BOOST_TEST(list.pop_front()->use_count() == 1u);
}

BOOST_AUTO_TEST_CASE(it_lets_go_of_all_when_it_ends) {
    const auto a = make_call();
    const auto b = make_call();
    {
        claim_list<call> list;
        list.push_back(a);
        list.push_back(b);
    }
    BOOST_TEST(a->use_count() == 1u);
    BOOST_TEST(b->use_count() == 1u);
}

BOOST_AUTO_TEST_CASE(agrees_with_a_plain_list_over_random_operations) {
    std::mt19937 random(3);
    claim_list<call> list;
    std::list<call*> model;
    for (int i = 0; i < 100'000; ++i) {
        switch (random() % 5) {
        case 0:
        case 1: {
            const auto fresh = make_call();
            list.push_back(fresh);
            model.push_back(fresh.get());
            break;
        }
        case 2: {
            const auto fresh = make_call();
            list.push_front(fresh);
            model.push_front(fresh.get());
            break;
        }
        case 3:
            if (!model.empty()) {
                BOOST_REQUIRE_EQUAL(list.pop_front().get(), model.front());
                model.pop_front();
            }
            break;
        default:
            if (!model.empty()) {
                const auto any = std::next(model.begin(), static_cast<long>(random() % model.size() % 50));
                BOOST_REQUIRE_EQUAL(list.remove(**any).get(), *any);
                model.erase(any);
            }
            break;
        }
        BOOST_REQUIRE_EQUAL(list.size(), model.size());
        BOOST_REQUIRE_EQUAL(list.empty(), model.empty());
        BOOST_REQUIRE(model.empty() || &list.front() == model.front());
    }
}

BOOST_AUTO_TEST_SUITE_END()
