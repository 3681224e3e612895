// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/protocol_violation.hpp"
#include "worker/result_places.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace skep;

BOOST_AUTO_TEST_SUITE(result_places_test)

namespace {

constexpr std::size_t kibibyte = 1024;
constexpr std::size_t limit = 1024 * kibibyte;

blob memory_of(std::size_t bytes) {
    return blob(std::vector<std::byte>(bytes));
}

shared_options options_for_results() {
    shared_options options;
    options.bytes = limit;
    options.regions = 3;
    return options;
}

struct fixture {
    /// Requests and adds a region.
    void add(std::uint64_t region, std::size_t bytes) {
        places.request(bytes);
        places.add(region, memory_of(bytes));
    }

    const shared_options options = options_for_results();
    result_places places{options};
};

/// The act breaks the protocol, with a complaint that has this text.
void check_refused(const std::function<void()>& act, const std::string& text) {
    try {
        act();
        BOOST_ERROR("not refused: " + text);
    } catch (const protocol_violation& violation) {
        BOOST_TEST(std::string(violation.what()).find(text) != std::string::npos, violation.what());
    }
}

} // namespace

BOOST_FIXTURE_TEST_CASE(a_place_in_use_shows_its_region, fixture) {
    add(7, 64 * kibibyte);
    const auto& memory = places.occupy({7, 4096}, 100);
    BOOST_TEST(memory.size() == 64 * kibibyte);
    BOOST_TEST(places.in_use() == 1u);
    BOOST_TEST(places.written_bytes() == 4196u);
    places.vacate({7, 4096});
    BOOST_TEST(places.in_use() == 0u);
    BOOST_TEST(places.written_bytes() == 4196u);
}

BOOST_FIXTURE_TEST_CASE(one_request_at_a_time, fixture) {
    places.request(4096);
    check_refused([&] { places.request(4096); }, "4096 bytes for results before the answer");
    places.refuse();
    places.request(4096);
    places.add(1, memory_of(4096));
    places.request(4096);
}

BOOST_FIXTURE_TEST_CASE(requests_have_limits, fixture) {
    check_refused([&] { places.request(0); }, "shared.bytes, is 1048576");
    check_refused([&] { places.request(limit + 1); }, "shared.bytes, is 1048576");
    check_refused([&] { places.request(std::numeric_limits<std::uint64_t>::max()); }, "shared.bytes");
    add(1, limit - 4096);
    check_refused([&] { places.request(4097); }, "and has 1044480");
    add(2, 4095);
    add(3, 1);
    check_refused([&] { places.request(1); }, "shared.bytes");
}

BOOST_FIXTURE_TEST_CASE(the_number_of_regions_has_a_limit, fixture) {
    add(1, 1);
    add(2, 1);
    add(5, 1);
    check_refused([&] { places.request(1); }, "shared.regions allows, which is 3");
}

BOOST_FIXTURE_TEST_CASE(a_place_lies_in_a_region_for_results, fixture) {
    add(2, 8192);
    constexpr auto most = std::numeric_limits<std::size_t>::max();
    for (const std::uint64_t each : {0, 1, 3}) { // 1: a lent region, perhaps
        check_refused([&] { places.occupy({each, 0}, 1); }, "none of its regions for results");
    }
    for (const auto& [begin, bytes] : {std::pair(std::size_t(0), std::size_t(8193)),
                                       {8192, std::size_t(1)},
                                       {1, std::size_t(8192)},
                                       {0, std::size_t(0)},
                                       {most, std::size_t(2)},
                                       {2, most},
                                       {most, most}}) {
        check_refused(
            [&, begin = begin, bytes = bytes] {
                places.occupy({2, begin}, bytes);
            },
            "is outside of that region, which has 8192");
    }
    BOOST_TEST(places.in_use() == 0u);
    places.occupy({2, 0}, 8192);
}

BOOST_FIXTURE_TEST_CASE(places_in_use_do_not_overlap, fixture) {
    add(1, 64 * kibibyte);
    add(2, 64 * kibibyte);
    places.occupy({1, 100}, 100);
    for (const auto& [begin, bytes] :
         {std::pair(100, 100), {100, 1}, {199, 1}, {0, 101}, {0, 1000}, {150, 1000}, {120, 10}}) {
        check_refused(
            [&, begin = begin, bytes = bytes] {
                places.occupy({1, static_cast<std::size_t>(begin)}, static_cast<std::size_t>(bytes));
            },
            "overlaps one whose place is not released");
    }
    places.occupy({1, 0}, 100);
    places.occupy({1, 200}, 100);
    places.occupy({2, 100}, 100);
    check_refused([&] { places.occupy({1, 50}, 1); }, "overlaps");
    places.vacate({1, 100});
    places.occupy({1, 100}, 100);
    BOOST_TEST(places.in_use() == 4u);
}

BOOST_FIXTURE_TEST_CASE(tiny_places_are_limited_in_number, fixture) {
    add(1, 64 * kibibyte);
    constexpr std::size_t most = limit / 4096;
    for (std::size_t i = 0; i < most; ++i) {
        places.occupy({1, i}, 1);
    }
    check_refused([&] { places.occupy({1, most}, 1); }, "more places that are not released");
    places.vacate({1, 3});
    places.occupy({1, most}, 1);
}

BOOST_FIXTURE_TEST_CASE(the_end_of_the_regions_ends_all_places, fixture) {
    add(1, 8192);
    places.occupy({1, 0}, 8192);
    places.clear();
    places.vacate({1, 0});
    check_refused([&] { places.occupy({1, 0}, 1); }, "none of its regions");
}

BOOST_AUTO_TEST_SUITE_END()
