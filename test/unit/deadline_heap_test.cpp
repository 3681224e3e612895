// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/deadline_heap.hpp"
#include "support/start_time.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

using namespace skep;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(deadline_heap_test)

namespace {

using test::start;

/// Takes out everything due at `now`, in the order in which it comes.
std::vector<deadline_node*> pop_all(deadline_heap& heap, time_point now) {
    std::vector<deadline_node*> result;
    while (auto* const node = heap.pop_due(now)) {
        result.push_back(node);
    }
    return result;
}

} // namespace

BOOST_AUTO_TEST_CASE(empty) {
    deadline_heap heap;
    BOOST_TEST(heap.size() == 0u);
    BOOST_TEST((heap.earliest() == time_point::max()));
    BOOST_TEST(heap.pop_due(time_point::max()) == nullptr);
}

BOOST_AUTO_TEST_CASE(the_earliest_comes_first) {
    deadline_node late, early, middle;
    deadline_heap heap;
    heap.set(late, start + 3s);
    heap.set(early, start + 1s);
    heap.set(middle, start + 2s);
    BOOST_TEST((heap.earliest() == start + 1s));
    const auto order = pop_all(heap, start + 10s);
    const std::vector<deadline_node*> wanted{&early, &middle, &late};
    BOOST_TEST((order == wanted));
    BOOST_TEST(heap.size() == 0u);
}

BOOST_AUTO_TEST_CASE(nothing_comes_before_its_time) {
    deadline_node node;
    deadline_heap heap;
    heap.set(node, start);
    BOOST_TEST(heap.pop_due(start - 1ns) == nullptr);
    BOOST_TEST(heap.pop_due(start) == &node);
}

BOOST_AUTO_TEST_CASE(an_entry_can_be_moved_both_ways) {
    deadline_node a, b;
    deadline_heap heap;
    heap.set(a, start + 1s);
    heap.set(b, start + 2s);
    heap.set(a, start + 3s);
    BOOST_TEST(heap.size() == 2u);
    BOOST_TEST((heap.earliest() == start + 2s));
    heap.set(a, start);
    BOOST_TEST((heap.earliest() == start));
}

BOOST_AUTO_TEST_CASE(removing_what_is_not_in_it_does_nothing) {
    deadline_node in, out;
    deadline_heap heap;
    heap.set(in, start);
    heap.remove(out);
    BOOST_TEST(heap.size() == 1u);
    heap.remove(in);
    heap.remove(in);
    BOOST_TEST(heap.size() == 0u);
}

BOOST_AUTO_TEST_CASE(what_was_removed_or_popped_can_be_added_again) {
    deadline_node node;
    deadline_heap heap;
    heap.set(node, start);
    heap.remove(node);
    heap.set(node, start + 1s);
    BOOST_TEST(heap.pop_due(start + 1s) == &node);
    heap.set(node, start + 2s);
    BOOST_TEST((heap.earliest() == start + 2s));
}

BOOST_AUTO_TEST_CASE(equal_deadlines_all_come) {
    std::vector<deadline_node> nodes(1000);
    deadline_heap heap;
    for (auto& node : nodes) {
        heap.set(node, start);
    }
    BOOST_TEST(pop_all(heap, start).size() == 1000u);
}

BOOST_AUTO_TEST_CASE(agrees_with_a_sorted_set_over_random_operations) {
    using entry = std::pair<time_point, deadline_node*>;
    std::mt19937 random(11);
    struct dated_node : deadline_node {
        time_point due;
    };
    std::vector<dated_node> nodes(300);
    std::set<entry> model;
    deadline_heap heap;
    auto now = start;
    for (int i = 0; i < 100'000; ++i) {
        auto& node = nodes[random() % nodes.size()];
        const entry old{node.due, &node};
        switch (random() % 8) {
        case 0:
            heap.remove(node);
            model.erase(old);
            break;
        case 1: {
            now += std::chrono::milliseconds(random() % 20);
            auto* const popped = heap.pop_due(now);
            const bool any_due = !model.empty() && model.begin()->first <= now;
            BOOST_REQUIRE_EQUAL(popped != nullptr, any_due);
            if (popped != nullptr) {
                const auto due = static_cast<dated_node*>(popped)->due;
                BOOST_REQUIRE((due == model.begin()->first));
                BOOST_REQUIRE_EQUAL(model.erase(entry(due, popped)), 1u);
            }
            break;
        }
        default:
            model.erase(old);
            node.due = now + std::chrono::milliseconds(random() % 1000);
            heap.set(node, node.due);
            model.insert({node.due, &node});
            break;
        }
        BOOST_REQUIRE_EQUAL(heap.size(), model.size());
        BOOST_REQUIRE((heap.earliest() == (model.empty() ? time_point::max() : model.begin()->first)));
    }
}

BOOST_AUTO_TEST_SUITE_END()
