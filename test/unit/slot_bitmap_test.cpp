// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/slot_bitmap.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <optional>
#include <random>
#include <set>

namespace skep::test {

namespace {

std::optional<std::uint32_t> first_from(const std::set<std::uint32_t>& model, std::uint32_t slot) {
    const auto found = model.lower_bound(slot);
    return found == model.end() ? std::nullopt : std::optional(*found);
}

} // namespace

BOOST_AUTO_TEST_SUITE(slot_bitmap_test)

BOOST_AUTO_TEST_CASE(a_lower_member_of_the_same_word_is_passed_over) {
    slot_bitmap slots;
    slots.set(3);
    BOOST_TEST((slots.first_from(3) == 3u));
    BOOST_TEST(!slots.first_from(4));
    slots.set(200);
    BOOST_TEST((slots.first_from(4) == 200u));
    BOOST_TEST(!slots.first_from(201));
}

// As many slots as the summary has several words for.
BOOST_AUTO_TEST_CASE(agrees_with_a_set_over_random_operations) {
    std::mt19937 random(4711);
    std::uniform_int_distribution<std::uint32_t> any_slot(0, 9999);
    slot_bitmap slots;
    std::set<std::uint32_t> model;
    for (int i = 0; i < 20'000; ++i) {
        const auto slot = any_slot(random);
        if (random() % 2 == 0) {
            slots.set(slot);
            model.insert(slot);
        } else {
            const auto member = first_from(model, slot).value_or(slot);
            slots.clear(member);
            model.erase(member);
        }
        const auto from = any_slot(random);
        BOOST_REQUIRE((slots.first_from(from) == first_from(model, from)));
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
