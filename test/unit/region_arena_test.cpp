// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/region_arena.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <vector>

using namespace skep;

BOOST_AUTO_TEST_SUITE(region_arena_test)

namespace {

constexpr std::size_t step = region_arena::step;
constexpr std::size_t mebibyte = std::size_t(1) << 20;

/// An arena with one region of so many steps.
region_arena arena_of(std::size_t steps) {
    region_arena arena(steps * step, 64);
    arena.add(1, steps * step);
    return arena;
}

bool is_at(const std::optional<region_place>& place, std::uint64_t region, std::size_t steps) {
    return place == region_place{region, steps * step};
}

} // namespace

BOOST_AUTO_TEST_CASE(an_arena_begins_without_a_region) {
    region_arena arena(mebibyte, 64);
    BOOST_TEST(!arena.reserve(1));
    BOOST_TEST(arena.size() == 0u);
}

BOOST_AUTO_TEST_CASE(places_are_whole_steps_from_the_first_that_fits) {
    auto arena = arena_of(4);
    BOOST_TEST(is_at(arena.reserve(1), 1, 0));
    BOOST_TEST(is_at(arena.reserve(step), 1, 1));
    BOOST_TEST(is_at(arena.reserve(step + 1), 1, 2));
    BOOST_TEST(!arena.reserve(1));
    BOOST_TEST(arena.reserved() == 4 * step);
}

BOOST_AUTO_TEST_CASE(a_released_place_is_reserved_again) {
    auto arena = arena_of(3);
    arena.reserve(step);
    const auto middle = arena.reserve(step);
    arena.reserve(step);
    BOOST_TEST(arena.release(*middle));
    BOOST_TEST(arena.reserved() == 2 * step);
    BOOST_TEST(!arena.reserve(2 * step));
    BOOST_TEST(is_at(arena.reserve(step), 1, 1));
}

BOOST_AUTO_TEST_CASE(released_neighbours_are_joined_in_any_order) {
    std::vector<std::size_t> order{0, 1, 2, 3};
    do {
        auto arena = arena_of(4);
        std::vector<region_place> places;
        for (std::size_t i = 0; i < 4; ++i) {
            places.push_back(*arena.reserve(step));
        }
        for (const auto each : order) {
            BOOST_TEST(arena.release(places[each]));
        }
        BOOST_TEST(arena.reserved() == 0u);
        BOOST_TEST(is_at(arena.reserve(4 * step), 1, 0));
    } while (std::next_permutation(order.begin(), order.end()));
}

BOOST_AUTO_TEST_CASE(only_a_reserved_place_is_released) {
    auto arena = arena_of(4);
    const auto place = arena.reserve(2 * step);
    BOOST_TEST(!arena.release({1, step}));     // within a place
    BOOST_TEST(!arena.release({1, 2 * step})); // free
    BOOST_TEST(!arena.release({2, 0}));        // no such region
    BOOST_TEST(!arena.release({0, 0}));
    BOOST_TEST(arena.reserved() == 2 * step);
    BOOST_TEST(arena.release(*place));
    BOOST_TEST(!arena.release(*place)); // released before
}

BOOST_AUTO_TEST_CASE(regions_double_the_arena_up_to_its_limit) {
    region_arena arena(10 * mebibyte, 64);
    std::vector<std::size_t> sizes;
    for (auto size = arena.size_of_next(1); size > 0; size = arena.size_of_next(1)) {
        sizes.push_back(size / mebibyte);
        arena.add(sizes.size(), size);
    }
    const std::vector<std::size_t> expected{1, 1, 2, 4, 2};
    BOOST_TEST(sizes == expected, boost::test_tools::per_element());
    BOOST_TEST(arena.size() == 10 * mebibyte);
}

BOOST_AUTO_TEST_CASE(a_region_is_as_large_as_its_attachment) {
    region_arena arena(8 * mebibyte, 64);
    BOOST_TEST(arena.size_of_next(5 * mebibyte + 1) == 5 * mebibyte + step);
    arena.add(1, 5 * mebibyte + step);
    BOOST_TEST(is_at(arena.reserve(5 * mebibyte + 1), 1, 0));
    BOOST_TEST(arena.size_of_next(3 * mebibyte) == 0u); // a step is missing
    BOOST_TEST(arena.size_of_next(2 * mebibyte) == 3 * mebibyte - step);
    BOOST_TEST(arena.size_of_next(9 * mebibyte) == 0u);
    BOOST_TEST(arena.size_of_next(static_cast<std::size_t>(-1)) == 0u);
}

BOOST_AUTO_TEST_CASE(the_number_of_regions_is_limited) {
    region_arena arena(64 * mebibyte, 2);
    arena.add(1, arena.size_of_next(1));
    arena.add(2, arena.size_of_next(1));
    BOOST_TEST(arena.size_of_next(1) == 0u);
}

BOOST_AUTO_TEST_CASE(a_limit_below_the_first_region_is_respected_in_whole_steps) {
    region_arena arena(3 * step + 17, 64);
    BOOST_TEST(arena.size_of_next(1) == 3 * step);
    BOOST_TEST(arena.size_of_next(3 * step + 1) == 0u);
    BOOST_TEST(!arena.reserve(3 * step + 1));
    BOOST_TEST(!arena.reserve(static_cast<std::size_t>(-1)));
}

BOOST_AUTO_TEST_CASE(a_region_that_could_not_be_made_leaves_its_room) {
    region_arena arena(2 * mebibyte, 2);
    arena.add(1, mebibyte);
    arena.add(2, mebibyte);
    arena.drop(2);
    BOOST_TEST(arena.size() == mebibyte);
    BOOST_TEST(arena.size_of_next(1) == mebibyte);
    arena.add(3, mebibyte);
    BOOST_TEST(is_at(arena.reserve(mebibyte), 1, 0));
    BOOST_TEST(is_at(arena.reserve(mebibyte), 3, 0));
}

BOOST_AUTO_TEST_CASE(places_of_a_later_region_are_used_once_the_first_is_full) {
    region_arena arena(4 * step, 64);
    arena.add(1, step);
    arena.add(2, 2 * step);
    BOOST_TEST(is_at(arena.reserve(2 * step), 2, 0));
    BOOST_TEST(is_at(arena.reserve(1), 1, 0));
}

BOOST_AUTO_TEST_CASE(no_byte_is_reserved_twice_and_none_is_lost) {
    struct span {
        region_place place;
        std::size_t size;
    };
    std::mt19937 random(1); // NOLINT: the same sequence each time
    region_arena arena(4 * mebibyte, 8);
    std::vector<span> spans;
    std::uint64_t last_region = 0;
    for (int i = 0; i < 20'000; ++i) {
        const auto bytes = 1 + random() % (100 * step);
        auto place = random() % 2 == 0 ? arena.reserve(bytes) : std::nullopt;
        if (!place && arena.size_of_next(bytes) > 0) {
            arena.add(++last_region, arena.size_of_next(bytes));
            place = arena.reserve(bytes);
        }
        if (place) {
            const auto overlaps = [&](const span& other) {
                return other.place.region == place->region && other.place.begin < place->begin + bytes &&
                       place->begin < other.place.begin + other.size;
            };
            BOOST_REQUIRE(std::none_of(spans.begin(), spans.end(), overlaps));
            spans.push_back({*place, bytes});
        } else if (!spans.empty()) {
            std::swap(spans[random() % spans.size()], spans.back());
            BOOST_REQUIRE(arena.release(spans.back().place));
            spans.pop_back();
        }
    }
    for (const auto& each : spans) {
        BOOST_REQUIRE(arena.release(each.place));
    }
    BOOST_TEST(arena.reserved() == 0u);
    BOOST_TEST(arena.size() == 4 * mebibyte);
    BOOST_TEST(arena.reserve(mebibyte).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
