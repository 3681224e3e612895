// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Regions that a worker writes and a host reads, over a real line.

#include "process/descriptor_passing.hpp"
#include "process/launcher.hpp"
#include "process/memory_line.hpp"
#include "process/shared_memory.hpp"
#include "wire/memory_packets.hpp"
#include "wire/protocol_violation.hpp"
#include "worker/result_memory.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <thread>
#include <vector>

using namespace skep;

BOOST_AUTO_TEST_SUITE(result_memory_test)

namespace {

constexpr std::size_t region_size = 64 * 1024;

shared_options options_of_host(bool shows) {
    shared_options options;
    options.bytes = 1u << 20;
    options.show_results = shows;
    return options;
}

/// Host and worker, with the line between them.
struct line_with_worker {
    explicit line_with_worker(bool shows = false) : options(options_of_host(shows)) { host.begin(*line); }

    /// The next packet that the worker gets; empty without one.
    std::optional<region_packet> take_packet() {
        message_with_descriptor packet;
        if (receive_descriptor(ends.there.get(), most_packet_bytes, packet) <= 0) {
            return std::nullopt;
        }
        const auto told = decode_region(packet.text);
        if (told && packet.descriptor.get() >= 0) {
            written = map_result_memory(packet.descriptor.get(), told->bytes);
        }
        return told;
    }

    /// The worker requests and gets a region.
    std::uint64_t get_region(std::size_t bytes = region_size) {
        host.request(bytes);
        const auto told = take_packet();
        BOOST_REQUIRE(told);
        BOOST_REQUIRE(written.bytes().size() == bytes);
        return told->region;
    }

    void write(std::size_t begin, std::string_view text) {
        std::ranges::copy(std::as_bytes(std::span(text)), written.bytes().subspan(begin).begin());
    }

    /// The releases that a message to the worker takes with it.
    std::vector<region_place> tell(std::size_t most = 100) {
        const auto places = host.released(most);
        const std::vector<region_place> told(places.begin(), places.end());
        host.keep_released();
        return told;
    }

    shared_options options;
    fd_pair ends = make_packet_pair(launcher());
    std::unique_ptr<memory_line> line = make_memory_line(std::move(ends.here));
    result_memory host{options};
    memory_mapping written; ///< the worker's last region
};

struct showing_line : line_with_worker {
    showing_line() : line_with_worker(true) {}
};

} // namespace

BOOST_FIXTURE_TEST_CASE(an_attachment_is_copied_and_its_place_released_at_once, line_with_worker) {
    const auto region = get_region();
    write(4096, "hello");
    BOOST_TEST(!host.has_released());
    const auto read = host.open({region, 4096}, 5);
    write(4096, "other");
    BOOST_TEST(read.text() == "hello");
    BOOST_TEST(host.has_released());
    BOOST_TEST((tell() == std::vector<region_place>{{region, 4096}}));
    BOOST_TEST(!host.has_released());
    BOOST_TEST(host.opened() == 1u);
    BOOST_TEST(host.bytes() == 4101u);
}

BOOST_FIXTURE_TEST_CASE(a_copied_place_is_in_use_until_the_worker_is_told, line_with_worker) {
    const auto region = get_region();
    host.open({region, 0}, 5);
    BOOST_CHECK_THROW(host.open({region, 0}, 5), protocol_violation);
    host.released(100); // of a message that could not be sent
    BOOST_CHECK_THROW(host.open({region, 4}, 5), protocol_violation);
    BOOST_TEST(host.has_released());
    BOOST_TEST(tell().size() == 1u);
    host.open({region, 0}, 5);
}

BOOST_FIXTURE_TEST_CASE(a_region_keeps_its_pages_from_its_first_use_on, line_with_worker) {
    const auto can_be_removed = [](const memory_mapping& memory) {
        return ::madvise(memory.bytes().data(), 4096, MADV_REMOVE) == 0;
    };
    const auto older = get_region();
    BOOST_TEST(can_be_removed(written));
    const auto old_memory = std::move(written);
    const auto newest = get_region();
    BOOST_TEST(!can_be_removed(old_memory)); // the worker has mapped it before it requested the next
    BOOST_TEST(can_be_removed(written));
    host.open({older, 0}, 5);
    BOOST_TEST(can_be_removed(written));
    host.open({newest, 0}, 5);
    BOOST_TEST(!can_be_removed(written));
    write(4096, "written still");
    BOOST_TEST(host.open({newest, 4096}, 7).text() == "written");
}

BOOST_FIXTURE_TEST_CASE(releases_are_told_in_parts_if_the_message_has_no_room, line_with_worker) {
    const auto region = get_region();
    for (std::size_t i = 0; i < 5; ++i) {
        host.open({region, i * 4096}, 1);
    }
    BOOST_TEST(tell(0).empty());
    BOOST_TEST((tell(2) == std::vector<region_place>{{region, 0}, {region, 4096}}));
    BOOST_TEST(host.has_released());
    BOOST_TEST(tell().size() == 3u);
    BOOST_TEST(tell().empty());
}

BOOST_FIXTURE_TEST_CASE(a_shown_attachment_is_released_by_its_last_copy, showing_line) {
    const auto region = get_region();
    write(0, "hello");
    auto read = host.open({region, 0}, 5);
    auto copy = read;
    read = {};
    write(0, "HELLO");
    BOOST_TEST(copy.text() == "HELLO");
    BOOST_TEST(!host.has_released());
    std::thread([&] { copy = {}; }).join();
    BOOST_TEST((tell() == std::vector<region_place>{{region, 0}}));
}

BOOST_AUTO_TEST_CASE(a_shown_attachment_outlives_the_worker_and_its_host) {
    std::optional<showing_line> both(std::in_place);
    const auto region = both->get_region();
    both->write(100, "hello");
    auto read = both->host.open({region, 100}, 5);
    both->host.end();
    both->line.reset();
    BOOST_TEST(read.text() == "hello");
    both.reset();
    BOOST_TEST(read.text() == "hello");
}

BOOST_FIXTURE_TEST_CASE(numbers_rise_with_those_of_lent_regions, line_with_worker) {
    BOOST_TEST(line->make(line->next_number(), 4096));
    BOOST_TEST(take_packet()->region == 1u);
    BOOST_TEST(get_region() == 2u);
    BOOST_TEST(line->make(line->next_number(), 4096));
    const auto lent = take_packet();
    BOOST_TEST(lent->region == 3u);
    BOOST_TEST(!lent->is_for_results);
    BOOST_TEST(get_region(4096) == 4u);
    BOOST_CHECK_THROW(host.open({3, 0}, 1), protocol_violation);
    BOOST_CHECK_NO_THROW(host.open({2, 0}, 1));
}

BOOST_AUTO_TEST_CASE(without_memory_a_request_is_refused_and_may_be_repeated) {
    line_with_worker both;
    both.options.bytes = static_cast<std::size_t>(-1);
    constexpr std::size_t too_large = std::size_t(1) << 62;
    for (int i = 0; i < 2; ++i) {
        both.host.request(too_large);
        const auto refusal = both.take_packet();
        BOOST_REQUIRE(refusal);
        BOOST_TEST(refusal->region == 0u);
        BOOST_TEST(refusal->bytes == too_large);
        BOOST_TEST(both.written.empty());
    }
    BOOST_TEST(both.get_region() > 0u);
}

BOOST_AUTO_TEST_CASE(a_request_that_cannot_be_answered_stays_open) {
    line_with_worker both;
    both.ends.there.reset();
    both.host.request(4096);
    BOOST_CHECK_THROW(both.host.request(4096), protocol_violation);
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_shared_is_not_given) {
    const auto options = options_of_host(false);
    result_memory host(options);
    BOOST_CHECK_THROW(host.request(4096), protocol_violation);
    BOOST_CHECK_THROW(host.open({1, 0}, 1), protocol_violation);
}

BOOST_FIXTURE_TEST_CASE(a_lack_of_memory_for_a_copy_ends_in_bad_alloc, line_with_worker) {
    struct poor_line final : memory_line {
        bool make(std::uint64_t, std::size_t) noexcept override { return false; }
        std::span<std::byte> open(const region_place&, std::size_t) noexcept override { return {}; }
        std::uint64_t opened_bytes() const noexcept override { return 0; }
        blob make_for_results(std::uint64_t, std::size_t bytes) noexcept override {
            return blob(std::vector<std::byte>(bytes));
        }
        bool refuse_for_results(std::size_t) noexcept override { return true; }
        bool provide(const region_place&, std::span<const std::byte>) noexcept override { return false; }
        std::optional<region_place> pass(std::uint64_t, const blob&, std::size_t) noexcept override {
            return std::nullopt;
        }
        blob take(const region_place&, std::size_t, std::size_t, std::size_t, std::size_t&) override {
            return {};
        }
    };
    poor_line poor;
    result_memory memory(options);
    memory.begin(poor);
    memory.request(4096);
    BOOST_CHECK_THROW(memory.open({1, 0}, 4096), std::bad_alloc);
}

BOOST_AUTO_TEST_SUITE_END()
