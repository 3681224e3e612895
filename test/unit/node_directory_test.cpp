// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(node_directory_test)

namespace {

/// A directory whose time the test moves.
struct directory_bench {
    static node_beacon beacon_of(const std::string& name, std::uint32_t places = 1) {
        node_beacon beacon;
        beacon.node = name;
        beacon.epoch = "e";
        beacon.interval = 1s;
        beacon.pools.emplace("default", load_view{0, 0, places, places > 0});
        return beacon;
    }

    std::shared_ptr<known_node> hear(const node_beacon& beacon) { return nodes.hear(beacon, now); }
    std::shared_ptr<known_node> take() { return nodes.take(now); }
    std::size_t usable() { return nodes.usable(now); }

    /// Takes a node, and loses its link.
    void lose() {
        const auto node = take();
        BOOST_REQUIRE(node);
        nodes.give_back(*node, true, now);
    }

    /// The links to the only node without one are lost until the node is ejected.
    void eject(const std::string& name) {
        for (int i = 0; i < 5; ++i) {
            hear(beacon_of(name));
            now += 100ms;
            lose();
        }
    }

    /// Returns the passages since the last call: "n joined, n silent".
    std::string passages() { return std::exchange(told, {}); }

    std::string told;
    node_directory nodes{"default", [this](const known_node& node, node_passage passage) {
                             const char* const texts[] = {" joined", " drained", " silent", " restarted"};
                             told += (told.empty() ? "" : ", ") + node.name + "/" + node.epoch +
                                     texts[static_cast<std::size_t>(passage)];
                         }};
    time_point now{1h};
};

} // namespace

BOOST_AUTO_TEST_CASE(a_node_is_taken_once) {
    directory_bench of;
    BOOST_TEST(!of.take());
    BOOST_TEST(of.usable() == 0u);
    const auto heard = of.hear(of.beacon_of("n"));
    BOOST_REQUIRE(heard);
    BOOST_TEST(heard->name == "n");
    BOOST_TEST(heard->epoch == "e");
    BOOST_TEST(heard->load.places == 1u);
    BOOST_TEST(of.usable() == 1u);
    BOOST_TEST(of.take() == heard);
    BOOST_TEST(!of.take());
    BOOST_TEST(of.usable() == 1u);
}

BOOST_AUTO_TEST_CASE(nodes_with_other_pools_are_not_entered) {
    directory_bench of;
    auto beacon = of.beacon_of("n");
    beacon.pools.clear();
    BOOST_TEST(!of.hear(beacon));
    beacon.pools.emplace("other", load_view{0, 0, 1, true});
    BOOST_TEST(!of.hear(beacon));
    BOOST_TEST(of.usable() == 0u);
}

BOOST_AUTO_TEST_CASE(a_beacon_replaces_the_facts_of_the_one_before) {
    directory_bench of;
    const auto node = of.hear(of.beacon_of("n", 4));
    auto beacon = of.beacon_of("n", 2);
    beacon.epoch = "f";
    beacon.is_draining = true;
    BOOST_TEST(of.hear(beacon) == node);
    BOOST_TEST(node->epoch == "f");
    BOOST_TEST(node->load.places == 2u);
    BOOST_TEST(node->is_draining);
}

BOOST_AUTO_TEST_CASE(draining_nodes_and_nodes_without_workers_are_not_taken) {
    directory_bench of;
    auto draining = of.beacon_of("draining");
    draining.is_draining = true;
    of.hear(draining);
    of.hear(of.beacon_of("empty", 0));
    BOOST_TEST(!of.take());
    BOOST_TEST(of.usable() == 0u);
    draining.is_draining = false;
    of.hear(draining);
    BOOST_TEST(of.take() != nullptr);
}

BOOST_AUTO_TEST_CASE(a_node_that_was_silent_for_three_beacons_is_not_taken) {
    directory_bench of;
    of.hear(of.beacon_of("n"));
    of.now += 3s - 1ns;
    BOOST_TEST(of.usable() == 1u);
    of.now += 1ns;
    BOOST_TEST(of.usable() == 0u);
    BOOST_TEST(!of.take());
    of.hear(of.beacon_of("n"));
    BOOST_TEST(of.take() != nullptr);
}

BOOST_AUTO_TEST_CASE(a_node_whose_link_has_ended_must_be_heard_again) {
    directory_bench of;
    of.hear(of.beacon_of("n"));
    const auto node = of.take();
    of.nodes.give_back(*node, false, of.now);
    BOOST_TEST(of.usable() == 0u);
    BOOST_TEST(!of.take());
    of.hear(of.beacon_of("n"));
    of.now += 100ms - 1ns;
    BOOST_TEST(!of.take());
    of.now += 1ns;
    BOOST_TEST(of.take() == node);
}

BOOST_AUTO_TEST_CASE(a_node_that_was_silent_for_long_is_removed_unless_it_is_taken) {
    directory_bench of;
    const auto taken = of.hear(of.beacon_of("a"));
    BOOST_TEST(of.take() == taken);
    const auto forgotten = of.hear(of.beacon_of("b"));
    forgotten->is_stranger = false;
    of.now += 3s + 10min;
    BOOST_TEST(of.nodes.known(of.now) == 2u);
    BOOST_TEST(of.hear(of.beacon_of("b")) == forgotten);
    of.now += 3s + 10min + 1ns;
    BOOST_TEST(of.nodes.known(of.now) == 1u);
    BOOST_TEST(of.hear(of.beacon_of("a")) == taken);
    BOOST_TEST(of.hear(of.beacon_of("b")) != forgotten);
}

BOOST_AUTO_TEST_CASE(a_silent_node_that_has_accepted_no_link_is_soon_removed) {
    directory_bench of;
    of.hear(of.beacon_of("n"));
    of.now += 3s + 10s;
    BOOST_TEST(of.nodes.known(of.now) == 1u);
    of.now += 1ns;
    BOOST_TEST(of.nodes.known(of.now) == 0u);
}

BOOST_AUTO_TEST_CASE(an_ejected_node_is_not_soon_removed) {
    directory_bench of;
    for (const auto* const name : {"a", "b"}) { // half of the nodes stay
        of.hear(of.beacon_of(name));
        of.take();
    }
    of.eject("n");
    of.now += 10min;
    BOOST_TEST(of.nodes.known(of.now) == 3u);
}

BOOST_AUTO_TEST_CASE(a_taken_node_counts_as_long_as_it_is_taken) {
    directory_bench of;
    of.hear(of.beacon_of("n"));
    const auto node = of.take();
    node->is_stranger = false;
    for (int i = 0; i < 3; ++i) {
        of.now += 11min;
        BOOST_TEST(of.usable() == 1u);
    }
    of.nodes.give_back(*node, false, of.now);
    BOOST_TEST(of.usable() == 0u);
    of.now += 10min;
    BOOST_TEST(of.nodes.known(of.now) == 1u);
    of.now += 1ns;
    BOOST_TEST(of.nodes.known(of.now) == 0u);
}

BOOST_AUTO_TEST_CASE(a_node_that_loses_links_is_not_taken_for_a_time) {
    directory_bench of;
    of.hear(of.beacon_of("good"));
    of.take();
    of.eject("bad");
    of.now += 5s - 1ns;
    of.hear(of.beacon_of("bad"));
    BOOST_TEST(!of.take());
    BOOST_TEST(of.usable() == 1u);
    of.now += 1ns;
    BOOST_TEST(of.usable() == 2u);
    of.lose(); // at once, as a trial
    of.now += 10s;
    of.hear(of.beacon_of("bad"));
    const auto bad = of.take();
    BOOST_REQUIRE(bad);
    BOOST_TEST(of.nodes.answered(*bad, of.now));
    BOOST_TEST(!of.nodes.answered(*bad, of.now));
    of.nodes.give_back(*bad, true, of.now);
    of.hear(of.beacon_of("bad"));
    of.now += 100ms;
    BOOST_TEST(of.take() == bad);
}

BOOST_AUTO_TEST_CASE(the_node_of_a_session_depends_on_what_the_nodes_say) {
    directory_bench of;
    BOOST_TEST(of.nodes.choose("s", of.now) == "");
    for (const auto* const name : {"a", "b", "c"}) {
        of.hear(of.beacon_of(name));
    }
    const auto home = of.nodes.choose("s", of.now);
    while (of.take()) {} // links and ejections do not matter
    for (int i = 0; i < 5; ++i) {
        of.nodes.give_back(*of.nodes.find(home), true, of.now);
        of.hear(of.beacon_of(home));
        of.now += 100ms;
        of.take();
    }
    BOOST_TEST(of.nodes.find(home)->ejection.is_ejected());
    BOOST_TEST(of.nodes.choose("s", of.now) == home);
    auto draining = of.beacon_of(home);
    draining.is_draining = true;
    of.hear(draining);
    const auto next = of.nodes.choose("s", of.now);
    BOOST_TEST(next != home);
    of.hear(of.beacon_of(next, 0));
    const auto last = of.nodes.choose("s", of.now);
    BOOST_TEST((last != home && last != next));
    of.now += 3s;
    BOOST_TEST(of.nodes.choose("s", of.now) == "");
}

BOOST_AUTO_TEST_CASE(half_of_the_nodes_are_never_ejected) {
    directory_bench of;
    of.hear(of.beacon_of("a"));
    of.take();
    of.eject("b");
    BOOST_TEST(of.usable() == 1u);
    of.eject("c");
    of.hear(of.beacon_of("c"));
    of.now += 100ms;
    BOOST_TEST(of.usable() == 2u); // two of three would be too many
    of.take();
    of.hear(of.beacon_of("d"));
    of.take();
    of.eject("e");
    BOOST_TEST(of.usable() == 3u); // a, c, d
}

BOOST_AUTO_TEST_CASE(nodes_on_trial_count_once) {
    directory_bench of;
    of.hear(of.beacon_of("a"));
    of.take();
    of.eject("b");
    of.now += 5s;
    of.hear(of.beacon_of("b"));
    BOOST_TEST(of.take() != nullptr);
    of.eject("c");
    of.hear(of.beacon_of("c"));
    of.now += 100ms;
    BOOST_TEST(of.usable() == 3u);
}

BOOST_AUTO_TEST_CASE(further_nodes_than_the_most_are_ignored) {
    directory_bench of;
    for (std::size_t i = 0; i < node_directory::most_nodes; ++i) {
        BOOST_REQUIRE(of.hear(of.beacon_of("n" + std::to_string(i))));
    }
    BOOST_TEST(!of.hear(of.beacon_of("one-more")));
    BOOST_TEST(of.usable() == node_directory::most_nodes);
    BOOST_TEST(of.hear(of.beacon_of("n7")) != nullptr);
    of.now += 11min;
    BOOST_TEST(of.nodes.known(of.now) == 0u);
    BOOST_TEST(of.hear(of.beacon_of("one-more")) != nullptr);
}

BOOST_AUTO_TEST_CASE(a_node_joins_once_and_leaves_when_it_is_silent) {
    directory_bench of;
    of.hear(of.beacon_of("n"));
    BOOST_TEST(of.passages() == "n/e joined");
    of.hear(of.beacon_of("n"));
    of.now += 3s - 1ns;
    of.usable();
    BOOST_TEST(of.passages() == "");
    of.now += 1ns;
    of.usable();
    BOOST_TEST(of.passages() == "n/e silent");
    of.hear(of.beacon_of("n"));
    BOOST_TEST(of.passages() == "n/e joined");
}

BOOST_AUTO_TEST_CASE(a_node_with_a_link_stays_and_the_end_of_a_link_is_no_departure) {
    directory_bench of;
    of.hear(of.beacon_of("n"));
    const auto node = of.take();
    of.passages();
    of.now += 1min;
    of.usable();
    of.hear(of.beacon_of("n"));
    of.nodes.give_back(*node, false, of.now);
    of.usable();
    BOOST_TEST(of.passages() == "");
    of.now += 3s;
    of.usable();
    BOOST_TEST(of.passages() == "n/e silent");
}

BOOST_AUTO_TEST_CASE(a_node_that_drains_leaves_when_its_link_has_ended) {
    directory_bench of;
    of.hear(of.beacon_of("n"));
    const auto node = of.take();
    auto draining = of.beacon_of("n");
    draining.is_draining = true;
    of.hear(draining);
    BOOST_TEST(of.passages() == "n/e joined");
    of.nodes.give_back(*node, false, of.now);
    of.hear(draining);
    BOOST_TEST(of.passages() == "n/e drained");
    of.hear(of.beacon_of("n"));
    BOOST_TEST(of.passages() == "n/e joined");
}

BOOST_AUTO_TEST_CASE(a_node_that_was_started_again_leaves_and_joins) {
    directory_bench of;
    of.hear(of.beacon_of("n"));
    auto beacon = of.beacon_of("n");
    beacon.epoch = "f";
    of.hear(beacon);
    BOOST_TEST(of.passages() == "n/e joined, n/e restarted, n/f joined");
}

BOOST_AUTO_TEST_CASE(each_node_has_a_state_for_people) {
    directory_bench of;
    const auto state = [&](const known_node& node, bool has_link = false) {
        return std::string(to_string(state_of(node, has_link, of.now)));
    };
    const auto node = of.hear(of.beacon_of("n", 0));
    BOOST_TEST(state(*node) == "unavailable");
    of.hear(of.beacon_of("n"));
    BOOST_TEST(state(*node) == "opening");
    of.take();
    BOOST_TEST(state(*node) == "opening");
    BOOST_TEST(state(*node, true) == "linked");
    auto draining = of.beacon_of("n");
    draining.is_draining = true;
    of.hear(draining);
    BOOST_TEST(state(*node, true) == "draining");
    of.nodes.give_back(*node, false, of.now);
    BOOST_TEST(state(*node) == "draining");
    of.hear(of.beacon_of("n"));
    of.now += 3s;
    BOOST_TEST(state(*node) == "silent");
}

BOOST_AUTO_TEST_CASE(an_ejected_node_has_its_trial_before_it_is_linked) {
    directory_bench of;
    of.hear(of.beacon_of("good"));
    of.take();
    of.hear(of.beacon_of("bad"));
    for (int i = 0; i < 5; ++i) {
        of.hear(of.beacon_of("bad"));
        of.now += 100ms;
        const auto node = of.take();
        BOOST_REQUIRE(node);
        BOOST_TEST(of.nodes.give_back(*node, true, of.now) == (i == 4));
    }
    const auto bad = of.hear(of.beacon_of("bad"));
    const auto state = [&](bool has_link) { return state_of(*bad, has_link, of.now); };
    BOOST_TEST(bad->ejections == 1u);
    BOOST_TEST((state(false) == node_state::ejected));
    of.now += 5s;
    of.hear(of.beacon_of("bad"));
    BOOST_TEST((state(false) == node_state::opening));
    BOOST_TEST(of.take() == bad);
    BOOST_TEST((state(true) == node_state::trial));
    of.nodes.answered(*bad, of.now);
    BOOST_TEST((state(true) == node_state::linked));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
