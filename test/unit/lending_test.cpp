// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/lending.hpp"
#include <skep/shared_buffer.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <vector>

using namespace skep;

BOOST_AUTO_TEST_SUITE(lending_test)

namespace {

constexpr std::size_t step = region_arena::step;
constexpr std::size_t mebibyte = 1u << 20;
constexpr std::size_t any_number = static_cast<std::size_t>(-1);

/// Regions in this process, which the test can make fail.
struct local_regions {
    std::map<std::uint64_t, std::vector<std::byte>> memory;
    bool can_make = true;
    bool can_open = true;
    bool can_pass = true;
    std::size_t passed = 0; ///< bytes
};

class local_line final : public memory_line {
public:
    explicit local_line(local_regions& target) : target_(target) {}
    ~local_line() override { target_.memory.clear(); }

    bool make(std::uint64_t region, std::size_t bytes) noexcept override {
        return target_.can_make && target_.memory.try_emplace(region, bytes).second;
    }
    std::span<std::byte> open(const region_place& place, std::size_t bytes) noexcept override {
        return target_.can_open ? std::span(target_.memory.at(place.region)).subspan(place.begin, bytes)
                                : std::span<std::byte>();
    }
    std::uint64_t opened_bytes() const noexcept override { return 17; }
    std::optional<region_place> pass(std::uint64_t number, const blob& bytes,
                                     std::size_t most_bytes) noexcept override {
        target_.passed += target_.can_pass ? bytes.size() : 0;
        return target_.can_pass && bytes.size() <= most_bytes ? std::optional(region_place{number, 3, true})
                                                              : std::nullopt;
    }
    blob take(const region_place&, std::size_t, std::size_t, std::size_t, std::size_t&) override {
        return {};
    }
    blob make_for_results(std::uint64_t, std::size_t) noexcept override { return {}; }
    bool refuse_for_results(std::size_t) noexcept override { return true; }
    bool provide(const region_place&, std::span<const std::byte>) noexcept override { return true; }

private:
    local_regions& target_;
};

blob bytes_of(std::size_t size, int value) {
    return blob(std::vector<std::byte>(size, static_cast<std::byte>(value)));
}

blob shared_bytes(std::size_t size) {
    return shared_buffer(size);
}

shared_options small_memory() {
    shared_options options;
    options.least = options.least_result = step;
    options.bytes = mebibyte;
    return options;
}

struct fixture {
    fixture() { memory.open(std::make_unique<local_line>(regions)); }

    /// Lends the attachments, and keeps them lent.
    std::vector<region_place> lend(const std::vector<blob>& attachments, std::size_t most = any_number) {
        lending::turn turn(memory);
        const auto places = turn.lend(attachments, most);
        turn.keep();
        return {places.begin(), places.end()};
    }

    bool holds(const region_place& place, const blob& attachment) const {
        const auto begin = regions.memory.at(place.region).begin() + static_cast<std::ptrdiff_t>(place.begin);
        return std::equal(attachment.begin(), attachment.end(), begin);
    }

    local_regions regions;
    shared_options options = small_memory();
    lending memory{options};
};

} // namespace

BOOST_FIXTURE_TEST_CASE(large_attachments_are_copied_to_places_of_their_own, fixture) {
    const std::vector<blob> attachments{bytes_of(step, 1), bytes_of(step - 1, 2), blob(),
                                        bytes_of(3 * step + 1, 3)};
    const auto places = lend(attachments);
    BOOST_REQUIRE(places.size() == 4u);
    BOOST_TEST((places[1] == region_place()));
    BOOST_TEST((places[2] == region_place()));
    BOOST_TEST(!(places[0] == places[3]));
    BOOST_TEST(holds(places[0], attachments[0]));
    BOOST_TEST(holds(places[3], attachments[3]));
    BOOST_TEST(memory.lent() == 2u);
    BOOST_TEST(memory.fallbacks() == 0u);
    BOOST_TEST(memory.bytes() == 17u);
}

BOOST_FIXTURE_TEST_CASE(small_attachments_have_no_places, fixture) {
    BOOST_TEST(lend({bytes_of(step - 1, 1), blob()}).empty());
    BOOST_TEST(lend({}).empty());
    BOOST_TEST(regions.memory.empty());
}

BOOST_FIXTURE_TEST_CASE(no_more_are_lent_than_the_message_has_room_for, fixture) {
    const std::vector<blob> attachments(4, bytes_of(step, 1));
    const auto places = lend(attachments, 2);
    BOOST_TEST(places[1].region == 1u);
    BOOST_TEST(places[2].region == 0u);
    BOOST_TEST(lend(attachments, 0).empty());
    BOOST_TEST(memory.lent() == 2u);
    BOOST_TEST(memory.fallbacks() == 0u);
}

BOOST_FIXTURE_TEST_CASE(places_of_a_failed_send_are_taken_back, fixture) {
    const std::vector<blob> attachments{bytes_of(mebibyte / 2, 1), bytes_of(mebibyte / 2, 1)};
    for (int i = 0; i < 3; ++i) {
        lending::turn turn(memory);
        BOOST_TEST(turn.lend({bytes_of(mebibyte / 2, 1)}, any_number).size() == 1u);
        BOOST_TEST(turn.lend({bytes_of(mebibyte / 2, 1)}, any_number).size() == 1u);
        BOOST_TEST(turn.lend({bytes_of(mebibyte / 2, 1)}, any_number).empty());
    }
    BOOST_TEST(lend(attachments).size() == 2u);
    BOOST_TEST(lend(attachments).empty());
}

BOOST_FIXTURE_TEST_CASE(a_place_is_lent_again_once_it_is_released, fixture) {
    const auto first = lend({bytes_of(mebibyte, 1)});
    BOOST_TEST(lend({bytes_of(step, 2)}).empty());
    BOOST_TEST(memory.fallbacks() == 1u);
    BOOST_TEST(memory.release(first[0]));
    BOOST_TEST(!memory.release(first[0]));
    BOOST_TEST(!memory.release({7, 0}));
    const auto again = lend({bytes_of(mebibyte, 3)});
    BOOST_REQUIRE(again.size() == 1u);
    BOOST_TEST((again[0] == first[0]));
    BOOST_TEST(holds(again[0], bytes_of(mebibyte, 3)));
    BOOST_TEST(regions.memory.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_region_that_cannot_be_made_is_tried_again, fixture) {
    regions.can_make = false;
    BOOST_TEST(lend({bytes_of(step, 1)}).empty());
    BOOST_TEST(memory.fallbacks() == 1u);
    regions.can_make = true;
    BOOST_TEST(lend({bytes_of(step, 1)}).size() == 1u);
    BOOST_TEST(regions.memory.contains(2)); // a number is used once
}

BOOST_FIXTURE_TEST_CASE(a_place_without_pages_is_not_used, fixture) {
    regions.can_open = false;
    BOOST_TEST(lend({bytes_of(mebibyte, 1)}).empty());
    BOOST_TEST(memory.fallbacks() == 1u);
    regions.can_open = true;
    BOOST_TEST(lend({bytes_of(mebibyte, 1)}).size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(shared_blobs_are_passed_on_and_others_copied, fixture) {
    const std::vector<blob> attachments{shared_bytes(step), bytes_of(step, 1), shared_bytes(step - 1),
                                        shared_bytes(2 * step)};
    const auto places = lend(attachments);
    BOOST_REQUIRE(places.size() == 4u);
    BOOST_TEST((places[0] == region_place{1, 3, true}));
    BOOST_TEST(!places[1].is_sealed);
    BOOST_TEST(holds(places[1], attachments[1]));
    BOOST_TEST((places[2] == region_place())); // too small
    BOOST_TEST((places[3] == region_place{2, 3, true}));
    BOOST_TEST((lend({shared_bytes(step)})[0] == region_place{3, 3, true})); // numbers go on
    BOOST_TEST(regions.passed == 4 * step);
    BOOST_TEST(memory.passed() == 3u);
    BOOST_TEST(memory.lent() == 1u);
    BOOST_TEST(memory.fallbacks() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_small_shared_blob_is_copied, fixture) {
    options.least_result = 2 * step;
    const auto places = lend({shared_bytes(2 * step - 1), shared_bytes(2 * step)});
    BOOST_REQUIRE(places.size() == 2u);
    BOOST_TEST(!places[0].is_sealed);
    BOOST_TEST(places[1].is_sealed);
}

BOOST_FIXTURE_TEST_CASE(a_shared_blob_is_passed_on_that_is_too_small_to_be_lent, fixture) {
    options.least = 2 * step;
    const auto places = lend({bytes_of(step, 1), shared_bytes(step)});
    BOOST_REQUIRE(places.size() == 2u);
    BOOST_TEST((places[0] == region_place()));
    BOOST_TEST(places[1].is_sealed);
    regions.can_pass = false;
    BOOST_TEST(lend({shared_bytes(step)}).empty());
}

BOOST_FIXTURE_TEST_CASE(a_shared_blob_that_cannot_be_passed_is_copied, fixture) {
    regions.can_pass = false;
    const auto attachment = shared_bytes(step);
    const auto places = lend({attachment});
    BOOST_REQUIRE(places.size() == 1u);
    BOOST_TEST(!places[0].is_sealed);
    BOOST_TEST(holds(places[0], attachment));
    regions.can_make = false;
    BOOST_TEST(lend({shared_bytes(mebibyte)}).empty());
    BOOST_TEST(memory.passed() == 0u);
    BOOST_TEST(memory.lent() == 1u);
    BOOST_TEST(memory.fallbacks() == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_message_shares_no_more_than_the_limit, fixture) {
    const std::vector<blob> attachments{shared_bytes(mebibyte / 2), shared_bytes(mebibyte / 2 + 1),
                                        bytes_of(mebibyte / 2, 1), shared_bytes(step)};
    const auto places = lend(attachments);
    BOOST_REQUIRE(places.size() == 4u);
    BOOST_TEST(places[0].is_sealed);
    BOOST_TEST((places[1] == region_place()));
    BOOST_TEST(places[2].region == 1u);
    BOOST_TEST((places[3] == region_place()));
    BOOST_TEST(memory.fallbacks() == 2u);
    BOOST_TEST(lend({shared_bytes(mebibyte)})[0].is_sealed); // a limit of each message
}

BOOST_FIXTURE_TEST_CASE(passed_memory_counts_as_mapped_up_to_the_limit, fixture) {
    BOOST_TEST(memory.mapped_bytes() == 17u);
    lend({shared_bytes(step)});
    BOOST_TEST(memory.mapped_bytes() == 17 + step);
    BOOST_TEST(memory.bytes() == 17u);
    lend({shared_bytes(mebibyte)});
    BOOST_TEST(memory.mapped_bytes() == 17 + mebibyte);
    memory.close();
    BOOST_TEST(memory.mapped_bytes() == 0u);
}

BOOST_FIXTURE_TEST_CASE(the_memory_ends_with_the_worker, fixture) {
    const auto places = lend({bytes_of(step, 1)});
    BOOST_TEST(memory.is_open());
    memory.close();
    BOOST_TEST(!memory.is_open());
    BOOST_TEST(memory.bytes() == 0u);
    BOOST_TEST(regions.memory.empty());
    BOOST_TEST(memory.lent() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
