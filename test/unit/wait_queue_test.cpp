// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "call/call.hpp"
#include "pool/demand/wait_queue.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <list>
#include <optional>
#include <random>
#include <set>

using namespace skep;

BOOST_AUTO_TEST_SUITE(wait_queue_test)

namespace {

using slot_number = std::optional<std::uint32_t>;

claim_ptr make_claim(slot_number slot = std::nullopt) {
    claim_ptr fresh(new call(request("x"), nullptr));
    fresh->slot = slot;
    return fresh;
}

claim_ptr add(wait_queue& queue, slot_number slot = std::nullopt) {
    auto fresh = make_claim(slot);
    queue.push_back(fresh);
    return fresh;
}

/// Takes the claim that is next at a place in `slot`.
claim_ptr take(wait_queue& queue, std::uint32_t slot) {
    auto* const next = queue.next_for(slot);
    return next != nullptr ? queue.remove(*next) : claim_ptr();
}

} // namespace

BOOST_AUTO_TEST_CASE(empty) {
    wait_queue queue;
    BOOST_TEST(queue.empty());
    BOOST_TEST(queue.size() == 0u);
    BOOST_TEST(queue.is_common_empty());
    BOOST_TEST(queue.next_for(0) == nullptr);
    BOOST_TEST(queue.next_for(1000) == nullptr);
}

BOOST_AUTO_TEST_CASE(any_place_takes_the_common_claims_in_order) {
    wait_queue queue;
    const auto a = add(queue);
    const auto b = add(queue);
    BOOST_TEST(!queue.is_common_empty());
    BOOST_TEST(&queue.front() == a.get());
    BOOST_TEST((take(queue, 7) == a));
    BOOST_TEST((take(queue, 3) == b));
    BOOST_TEST(queue.empty());
}

BOOST_AUTO_TEST_CASE(a_slots_claims_wait_for_its_place_in_order) {
    wait_queue queue;
    const auto a = add(queue, 2);
    const auto b = add(queue, 2);
    const auto other = add(queue, 0);
    BOOST_TEST(queue.is_common_empty());
    BOOST_TEST(queue.size() == 3u);
    BOOST_TEST(queue.next_for(1) == nullptr);
    BOOST_TEST(queue.next_for(3) == nullptr);
    BOOST_TEST((take(queue, 2) == a));
    BOOST_TEST((take(queue, 2) == b));
    BOOST_TEST(queue.next_for(2) == nullptr);
    BOOST_TEST((take(queue, 0) == other));
}

BOOST_AUTO_TEST_CASE(no_place_takes_claims_whose_slot_is_to_be_found) {
    wait_queue queue;
    const auto unplaced = add(queue, slot_to_be_found);
    const auto common = add(queue);
    BOOST_TEST(queue.size() == 2u);
    BOOST_TEST(queue.common_size() == 1u);
    BOOST_TEST(queue.unplaced_size() == 1u);
    BOOST_TEST(&queue.oldest() == unplaced.get());
    BOOST_TEST(&queue.front() == common.get());
    BOOST_TEST((take(queue, 0) == common));
    BOOST_TEST(queue.next_for(0) == nullptr);
    BOOST_TEST(!queue.empty());
    BOOST_TEST(queue.find_unplaced([](claim&) { return true; }) == unplaced.get());
    std::size_t seen = 0;
    queue.for_each([&](claim&) { ++seen; });
    BOOST_TEST(seen == 1u);
    const auto again = queue.remove(*unplaced);
    again->slot.reset();
    const auto later = add(queue);
    queue.put_back(again); // to its place in the order of arrival
    BOOST_TEST((take(queue, 0) == again));
    BOOST_TEST((take(queue, 0) == later));
    add(queue, slot_to_be_found);
    queue.clear();
    BOOST_TEST(queue.empty());
    BOOST_TEST(queue.unplaced_size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_place_takes_the_oldest_that_it_will_do_for) {
    wait_queue queue;
    const auto own = add(queue, 1);
    const auto common = add(queue);
    const auto own_later = add(queue, 1);
    const auto common_later = add(queue);
    BOOST_TEST(queue.next_for(0) == common.get());
    for (const auto& each : {own, common, own_later, common_later}) {
        BOOST_TEST((take(queue, 1) == each));
    }
}

BOOST_AUTO_TEST_CASE(an_older_claim_for_one_slot_comes_before_later_ones_there) {
    wait_queue queue;
    const auto older = add(queue);
    const auto bound = add(queue, 1);
    const auto later = add(queue);
    const auto fresh = make_claim();
    BOOST_TEST(!queue.has_older_for(1, *older));
    BOOST_TEST(queue.has_older_for(1, *later));
    BOOST_TEST(queue.has_older_for(1, *fresh));
    BOOST_TEST(!queue.has_older_for(0, *fresh));
    BOOST_TEST(!queue.has_older_for(9, *fresh));
    queue.remove(*bound);
    BOOST_TEST(!queue.has_older_for(1, *fresh));
}

BOOST_AUTO_TEST_CASE(one_that_has_waited_before_comes_before_all) {
    wait_queue queue;
    const auto a = add(queue);
    const auto again = make_claim();
    queue.push_front(again);
    BOOST_TEST(&queue.front() == again.get());
    const auto own = make_claim(4);
    queue.push_front(own);
    BOOST_TEST(&queue.oldest() == own.get());
    BOOST_TEST((take(queue, 4) == own));
    BOOST_TEST((take(queue, 4) == again));
    BOOST_TEST((take(queue, 4) == a));
}

BOOST_AUTO_TEST_CASE(one_bound_to_a_slot_that_has_waited_before_comes_before_the_first_common_one) {
    wait_queue queue;
    const auto first = add(queue);
    const auto again = make_claim(4);
    queue.push_front(again);
    BOOST_TEST((take(queue, 4) == again));
    BOOST_TEST((take(queue, 4) == first));
}

BOOST_AUTO_TEST_CASE(the_oldest_of_all) {
    wait_queue queue;
    const auto a = add(queue, 5);
    const auto b = add(queue);
    const auto c = add(queue, 0);
    for (const auto& each : {a, b, c}) {
        BOOST_TEST(&queue.oldest() == each.get());
        queue.remove(*each);
    }
    BOOST_TEST(queue.empty());
}

BOOST_AUTO_TEST_CASE(any_can_be_removed) {
    wait_queue queue;
    const auto a = add(queue);
    const auto b = add(queue);
    const auto c = add(queue);
    const auto own = add(queue, 0);
    BOOST_TEST((queue.remove(*b) == b));
    BOOST_TEST((queue.remove(*own) == own));
    BOOST_TEST(queue.size() == 2u);
    BOOST_TEST((take(queue, 0) == a));
    BOOST_TEST((take(queue, 0) == c));
}

BOOST_AUTO_TEST_CASE(one_that_was_removed_waits_anew) {
    wait_queue queue;
    const auto a = add(queue);
    const auto b = add(queue);
    queue.remove(*a);
    queue.push_back(a);
    BOOST_TEST((take(queue, 0) == b));
    BOOST_TEST((take(queue, 0) == a));
}

BOOST_AUTO_TEST_CASE(it_holds_one_reference_to_each) {
    const auto a = make_claim();
    const auto b = make_claim(3);
    {
        wait_queue queue;
        queue.push_back(a);
        queue.push_front(b);
        BOOST_TEST(a->use_count() == 2u);
        queue.remove(*a);
        BOOST_TEST(a->use_count() == 1u);
    }
    BOOST_TEST(b->use_count() == 1u);
}

BOOST_AUTO_TEST_CASE(for_each_sees_every_claim_once) {
    wait_queue queue;
    const auto a = add(queue);
    const auto b = add(queue, 0);
    const auto c = add(queue, 9);
    std::multiset<const claim*> seen;
    queue.for_each([&](claim& each) { seen.insert(&each); });
    const std::multiset<const claim*> expected{a.get(), b.get(), c.get()};
    BOOST_TEST((seen == expected));
}

BOOST_AUTO_TEST_CASE(agrees_with_a_plain_list_over_random_operations) {
    constexpr std::uint32_t slots = 5;
    std::mt19937 random(17);
    wait_queue queue;
    std::list<claim_ptr> model;
    const auto any_slot = [&] {
        const auto number = static_cast<std::uint32_t>(random() % (2 * slots));
        return number < slots ? slot_number(number) : std::nullopt;
    };
    const auto next_in_model = [&](std::uint32_t slot) {
        return std::find_if(model.begin(), model.end(),
                            [&](const auto& each) { return !each->slot || each->slot == slot; });
    };
    for (int i = 0; i < 100'000; ++i) {
        const auto slot =
            static_cast<std::uint32_t>(random() % (slots + 1)); // the last has no claims of its own
        switch (random() % 6) {
        case 0:
        case 1: model.push_back(add(queue, any_slot())); break;
        case 2:
            model.push_front(make_claim(any_slot()));
            queue.push_front(model.front());
            break;
        case 3:
            if (!model.empty()) {
                const auto any = std::next(model.begin(), static_cast<long>(random() % model.size() % 50));
                BOOST_REQUIRE_EQUAL(queue.remove(**any).get(), any->get());
                model.erase(any);
            }
            break;
        default:
            if (const auto next = next_in_model(slot); next != model.end()) {
                BOOST_REQUIRE_EQUAL(take(queue, slot).get(), next->get());
                model.erase(next);
            } else {
                BOOST_REQUIRE(queue.next_for(slot) == nullptr);
            }
            break;
        }
        BOOST_REQUIRE_EQUAL(queue.size(), model.size());
        BOOST_REQUIRE_EQUAL(queue.empty(), model.empty());
        BOOST_REQUIRE(model.empty() || &queue.oldest() == model.front().get());
        const auto common = next_in_model(slots);
        BOOST_REQUIRE_EQUAL(queue.is_common_empty(), common == model.end());
        BOOST_REQUIRE(common == model.end() || &queue.front() == common->get());
    }
}

BOOST_AUTO_TEST_SUITE_END()
