// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_scheduler.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <random>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(node_scheduler_test)

namespace {

/// Draws the first node, then the second, and so on.
node_choice::random_source in_turn() {
    return [is_second = false]() mutable {
        is_second = !is_second;
        return is_second ? 0.75 : 0.25;
    };
}

struct scheduler_bench {
    std::optional<std::uint32_t> pick() { return scheduler.pick({}); }

    /// Returns the slot that the next ten claims get, or nullopt if they get several.
    std::optional<std::uint32_t> only_pick() {
        const auto first = pick();
        for (int i = 0; i < 9; ++i) {
            if (pick() != first) {
                return std::nullopt;
            }
        }
        return first;
    }

    std::shared_ptr<told_loads> loads = std::make_shared<told_loads>();
    node_scheduler scheduler{loads, in_turn()};
};

} // namespace

BOOST_AUTO_TEST_CASE(before_it_was_told_a_load_is_the_own_calls) {
    told_loads loads;
    const auto load = loads.estimate(3, 2);
    BOOST_TEST(load.places == 1u);
    BOOST_TEST(load.told == 2u);
    BOOST_TEST(load.sent == 0u);
}

BOOST_AUTO_TEST_CASE(the_calls_of_others_are_the_rest_of_what_was_told) {
    told_loads loads;
    BOOST_TEST(loads.estimate(0, 3).told == 3u);
    loads.tell(0, {10, 8}); // three of these calls are own ones
    BOOST_TEST(loads.estimate(0, 3).told == 10u);
    BOOST_TEST(loads.estimate(0, 1).told == 8u);
    BOOST_TEST(loads.estimate(0, 5).told == 12u);
    BOOST_TEST(loads.estimate(0, 5).places == 8u);
    loads.tell(0, {4, 8}); // five own calls, some of them still on their way
    BOOST_TEST(loads.estimate(0, 5).told == 5u);
    BOOST_TEST(loads.estimate(0, 0).told == 0u);
}

BOOST_AUTO_TEST_CASE(a_full_node_has_a_load_that_no_other_has) {
    told_loads loads;
    loads.tell(0, {4, 4, false, true});
    BOOST_TEST(loads.estimate(0, 0).told == 44u);
    loads.tell(0, {4, 4, false, false});
    BOOST_TEST(loads.estimate(0, 0).told == 4u);
}

BOOST_AUTO_TEST_CASE(a_node_without_workers_can_be_asked) {
    told_loads loads;
    loads.tell(0, {0, 0});
    BOOST_TEST(loads.estimate(0, 0).places == 1u);
    loads.tell(0, {65'535, 65'535, true, true});
    BOOST_TEST(loads.estimate(0, 65'536).told == 65'535u + 65'536u + 655'350u);
}

BOOST_AUTO_TEST_CASE(without_an_offer_no_node_is_picked) {
    scheduler_bench of;
    BOOST_TEST(!of.pick().has_value());
    of.loads->tell(0, {0, 8});
    BOOST_TEST(!of.pick().has_value());
    of.scheduler.withdraw(0);
    of.scheduler.withdraw(77);
    BOOST_TEST(!of.pick().has_value());
}

BOOST_AUTO_TEST_CASE(the_node_with_the_lower_load_is_picked) {
    scheduler_bench of;
    of.scheduler.offer(0, 2);
    of.scheduler.offer(1, 1);
    BOOST_TEST((of.only_pick() == 1u));
    of.scheduler.offer(1, 3);
    BOOST_TEST((of.only_pick() == 0u));
}

BOOST_AUTO_TEST_CASE(the_calls_of_other_clients_count) {
    scheduler_bench of;
    of.scheduler.offer(0, 0);
    of.scheduler.offer(1, 1);
    of.loads->tell(0, {6, 4});
    of.loads->tell(1, {3, 4}); // one of these calls is an own one
    BOOST_TEST((of.only_pick() == 1u));
    of.loads->tell(0, {1, 4});
    BOOST_TEST((of.only_pick() == 0u));
}

BOOST_AUTO_TEST_CASE(a_full_node_is_the_last_to_be_picked) {
    scheduler_bench of;
    of.scheduler.offer(0, 0);
    of.scheduler.offer(1, 0);
    of.loads->tell(0, {1, 4, false, true});
    of.loads->tell(1, {20, 4});
    BOOST_TEST((of.only_pick() == 1u));
    of.scheduler.withdraw(1);
    BOOST_TEST((of.only_pick() == 0u));
}

BOOST_AUTO_TEST_CASE(a_suspect_node_is_the_last_to_be_picked) {
    scheduler_bench of;
    of.scheduler.offer(0, 0);
    of.scheduler.offer(1, 0);
    of.loads->tell(0, {0, 4});
    of.loads->tell(1, {20, 4});
    BOOST_TEST((of.only_pick() == 0u));
    of.loads->set_suspect(0, true);
    BOOST_TEST((of.only_pick() == 1u));
    of.scheduler.withdraw(1);
    BOOST_TEST((of.only_pick() == 0u));
    of.scheduler.offer(1, 0);
    of.loads->set_suspect(0, false);
    BOOST_TEST((of.only_pick() == 0u));
}

BOOST_AUTO_TEST_CASE(a_change_of_reach_does_not_count_own_calls_as_told) {
    told_loads loads;
    loads.tell(0, {10, 8});
    BOOST_TEST(loads.estimate(0, 3).told == 13u);
    loads.set_suspect(0, true);
    loads.set_suspect(0, false);
    BOOST_TEST(loads.estimate(0, 3).told == 13u);
}

/// The pool withdraws the slot of a draining node.
BOOST_AUTO_TEST_CASE(a_draining_node_is_picked_until_it_is_withdrawn) {
    scheduler_bench of;
    of.scheduler.offer(0, 0);
    of.scheduler.offer(1, 1);
    of.loads->tell(0, {0, 1, true, false});
    BOOST_TEST((of.only_pick() == 0u));
    of.scheduler.withdraw(0);
    BOOST_TEST((of.only_pick() == 1u));
}

BOOST_AUTO_TEST_CASE(a_withdrawn_node_is_picked_again_after_an_offer) {
    scheduler_bench of;
    of.scheduler.offer(2, 0);
    BOOST_TEST((of.only_pick() == 2u));
    of.scheduler.withdraw(2);
    of.loads->tell(2, {0, 8}); // does not bring it back
    BOOST_TEST(!of.pick().has_value());
    of.scheduler.offer(2, 0);
    BOOST_TEST((of.only_pick() == 2u));
}

BOOST_AUTO_TEST_CASE(a_load_that_was_told_before_an_offer_counts) {
    scheduler_bench of;
    of.loads->tell(0, {9, 4});
    of.loads->tell(1, {1, 4});
    of.scheduler.offer(0, 0);
    of.scheduler.offer(1, 0);
    BOOST_TEST((of.only_pick() == 1u));
}

BOOST_AUTO_TEST_CASE(nodes_are_drawn_in_proportion_to_their_places) {
    const auto loads = std::make_shared<told_loads>();
    node_scheduler scheduler(loads, [engine = std::mt19937(5)]() mutable {
        return std::uniform_real_distribution<double>()(engine);
    });
    scheduler.offer(0, 0);
    scheduler.offer(1, 0);
    loads->tell(0, {899, 900});
    loads->tell(1, {99, 100}); // as much a place
    int picks_of_large = 0;
    for (int i = 0; i < 1000; ++i) {
        picks_of_large += scheduler.pick({}) == 0u;
    }
    BOOST_TEST(picks_of_large > 800);
    BOOST_TEST(picks_of_large < 1000);
}

BOOST_AUTO_TEST_CASE(all_schedulers_of_a_pool_follow) {
    scheduler_bench of;
    {
        node_scheduler other(of.loads, in_turn());
        for (auto* const each : {&of.scheduler, &other}) {
            each->offer(0, 0);
            each->offer(1, 0);
        }
        of.loads->tell(0, {5, 1});
        of.loads->tell(1, {1, 1});
        BOOST_TEST((of.only_pick() == 1u));
        BOOST_TEST((other.pick({}) == 1u));
        of.loads->tell(0, {0, 1});
        BOOST_TEST((of.only_pick() == 0u));
        BOOST_TEST((other.pick({}) == 0u));
    }
    of.loads->tell(0, {7, 1}); // and not the scheduler that is gone
    BOOST_TEST((of.only_pick() == 1u));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
