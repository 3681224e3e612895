// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/home_choice.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(home_choice_test)

namespace {

using node_names = std::vector<std::string>;

std::string chosen(const std::string& session, const node_names& nodes) {
    rendezvous choice(session);
    for (const auto& each : nodes) {
        choice.offer(each);
    }
    return choice.winner();
}

} // namespace

BOOST_AUTO_TEST_CASE(the_node_that_has_the_session_comes_first) {
    for (const auto rule : {affinity_on_recycle::wait, affinity_on_recycle::move}) {
        const home_report told{true, "a"};
        BOOST_TEST((home_step_of(told, true, rule) == home_step::go_to_node));
        BOOST_TEST((home_step_of(told, false, rule) == home_step::go_to_node));
        const home_report silent{true, ""};
        BOOST_TEST((home_step_of(silent, true, rule) == home_step::meet_others));
        BOOST_TEST((home_step_of(silent, false, rule) == home_step::go_anywhere));
        const home_report unasked;
        BOOST_TEST((home_step_of(unasked, true, rule) == home_step::ask_again));
        BOOST_TEST((home_step_of(unasked, false, rule) == home_step::ask_again));
    }
}

BOOST_AUTO_TEST_CASE(a_node_that_drains_is_waited_for_by_strict_calls_alone) {
    const home_report drained{true, "a", true};
    BOOST_TEST((home_step_of(drained, true, affinity_on_recycle::wait) == home_step::go_to_node));
    BOOST_TEST((home_step_of(drained, false, affinity_on_recycle::wait) == home_step::go_anywhere));
    BOOST_TEST((home_step_of(drained, true, affinity_on_recycle::move) == home_step::meet_others));
    BOOST_TEST((home_step_of(drained, false, affinity_on_recycle::move) == home_step::go_anywhere));
}

BOOST_AUTO_TEST_CASE(the_rendezvous_is_the_same_for_all_clients) {
    BOOST_TEST(chosen("s", {}) == "");
    BOOST_TEST(chosen("s", {"only"}) == "only");
    // Golden: other programs choose by the same hash.
    BOOST_TEST(chosen("user-1", {"gpu-1", "gpu-2", "gpu-3"}) == "gpu-3");
    BOOST_TEST(chosen("user-2", {"gpu-1", "gpu-2", "gpu-3"}) == "gpu-3");
    BOOST_TEST(chosen("user-3", {"gpu-1", "gpu-2", "gpu-3"}) == "gpu-2");
    node_names nodes{"a", "b", "c", "d"};
    do {
        BOOST_TEST(chosen("s", nodes) == chosen("s", {"a", "b", "c", "d"}));
    } while (std::next_permutation(nodes.begin(), nodes.end()));
}

BOOST_AUTO_TEST_CASE(a_node_that_goes_moves_its_own_sessions_only) {
    constexpr std::size_t sessions = 3000;
    std::map<std::string, std::size_t> counts;
    for (std::size_t i = 0; i < sessions; ++i) {
        const auto session = "user-" + std::to_string(i);
        const auto before = chosen(session, {"a", "b", "c"});
        ++counts[before];
        if (before != "c") {
            BOOST_TEST(chosen(session, {"a", "b"}) == before);
        }
    }
    for (const auto& [node, count] : counts) {
        BOOST_TEST(count > sessions / 4, node);
    }
    BOOST_TEST(counts.size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
