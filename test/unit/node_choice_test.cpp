// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/node_choice.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <random>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(node_choice_test)

namespace {

struct chosen_nodes {
    /// Picks so often, without a change of the loads. Returns the number of picks by node.
    std::vector<int> picks(int count, std::span<const node_number> busy = {}) {
        std::vector<int> found(16);
        for (int i = 0; i < count; ++i) {
            ++found.at(choice.pick(random, busy).value());
        }
        return found;
    }

    node_choice choice;
    std::mt19937 engine{7};
    std::uniform_real_distribution<double> uniform{0, 1};
    node_choice::random_source random = [this] { return uniform(engine); };
};

/// Loads that are so low that the first of the two nodes is taken as a rule.
node_load idle_node(std::uint32_t places) {
    node_load load;
    load.places = places;
    load.told = places * 1000 - 1; // the same load per place
    return load;
}

} // namespace

BOOST_AUTO_TEST_CASE(without_nodes_none_is_picked) {
    chosen_nodes of;
    BOOST_TEST(!of.choice.pick(of.random).has_value());
    of.choice.set(3, node_load());
    BOOST_TEST(!of.choice.pick(of.random).has_value());
}

BOOST_AUTO_TEST_CASE(one_node_gets_all) {
    chosen_nodes of;
    of.choice.set(2, idle_node(1));
    BOOST_TEST(of.picks(100).at(2) == 100);
}

BOOST_AUTO_TEST_CASE(nodes_are_drawn_in_proportion_to_their_places) {
    chosen_nodes of;
    const std::array<std::uint32_t, 5> places{1, 2, 0, 5, 12};
    for (node_number node = 0; node < places.size(); ++node) {
        of.choice.set(node, idle_node(places[node]));
    }
    const auto found = of.picks(20'000);
    for (node_number node = 0; node < places.size(); ++node) {
        BOOST_TEST(found[node] > static_cast<int>(places[node]) * 900 - 1);
        BOOST_TEST(found[node] <= static_cast<int>(places[node]) * 1100);
    }
}

BOOST_AUTO_TEST_CASE(of_two_nodes_the_one_with_the_lower_load_per_place_is_taken) {
    chosen_nodes of;
    of.choice.set(0, {4, 3, 0, 0ms});
    of.choice.set(1, {2, 0, 0, 0ms});
    BOOST_TEST(of.picks(1000).at(1) > 950); // (0 + 1) / 2 is less than (3 + 1) / 4
    of.choice.set(0, {4, 0, 0, 0ms});
    BOOST_TEST(of.picks(1000).at(0) > 950);
}

BOOST_AUTO_TEST_CASE(own_calls_count_until_the_node_tells_its_load) {
    chosen_nodes of;
    of.choice.set(0, {1, 0, 0, 0ms});
    of.choice.set(1, {1, 2, 0, 0ms});
    BOOST_TEST(of.picks(1000).at(0) > 950);
    for (int i = 0; i < 3; ++i) {
        of.choice.count_sent(0);
    }
    BOOST_TEST(of.picks(1000).at(1) > 950);
    of.choice.set(0, {1, 1, 0, 0ms});
    BOOST_TEST(of.picks(1000).at(0) > 950);
}

BOOST_AUTO_TEST_CASE(of_equal_loads_the_nearer_node_is_taken) {
    chosen_nodes of;
    of.choice.set(0, {1, 0, 0, 2ms});
    of.choice.set(1, {1, 0, 0, 1ms});
    BOOST_TEST(of.picks(1000).at(1) > 950);
}

BOOST_AUTO_TEST_CASE(busy_nodes_are_left_out) {
    chosen_nodes of;
    of.choice.set(0, idle_node(1000));
    of.choice.set(1, idle_node(1));
    of.choice.set(2, idle_node(1));
    const std::array<node_number, 1> busy{0};
    const auto found = of.picks(1000, busy);
    BOOST_TEST(found[0] == 0);
    BOOST_TEST(found[1] + found[2] == 1000);
    const std::array<node_number, 3> all{0, 1, 2};
    BOOST_TEST(!of.choice.pick(of.random, all).has_value());
}

BOOST_AUTO_TEST_CASE(nodes_without_places_are_left_out_until_they_have_some_again) {
    chosen_nodes of;
    for (node_number node = 0; node < 16; ++node) {
        of.choice.set(node, idle_node(1));
    }
    BOOST_TEST(of.picks(1600).at(3) > 50);
    for (node_number node = 1; node < 16; ++node) {
        of.choice.set(node, node_load());
    }
    BOOST_TEST(of.picks(1600).at(0) == 1600); // and the others leave the table
    of.choice.set(3, idle_node(1));
    const auto picks = of.picks(1600);
    BOOST_TEST(picks.at(0) > 600);
    BOOST_TEST(picks.at(3) > 600);
    of.choice.set(0, node_load());
    of.choice.set(3, node_load());
    BOOST_TEST(!of.choice.pick(of.random).has_value());
}

BOOST_AUTO_TEST_CASE(places_may_change) {
    chosen_nodes of;
    of.choice.set(0, idle_node(1));
    of.choice.set(1, idle_node(1));
    of.picks(1);
    of.choice.set(0, node_load());
    BOOST_TEST(of.picks(100).at(1) == 100);
    of.choice.set(0, idle_node(9));
    const auto found = of.picks(10'000);
    BOOST_TEST(found[0] > 8500);
    BOOST_TEST(found[1] > 800);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
