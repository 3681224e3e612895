// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The memory that a worker in C++ shares with its host.

#include "process/descriptor_passing.hpp"
#include "process/launcher.hpp"
#include "process/memory_line.hpp"
#include "server/answer_memory.hpp"
#include "server/shared_line.hpp"
#include "support/in_a_child.hpp"
#include "wire/memory_packets.hpp"
#include "wire/protocol_violation.hpp"
#include <skep/shared_buffer.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <vector>

using namespace skep;

BOOST_AUTO_TEST_SUITE(shared_line_test)

namespace {

constexpr std::size_t size = 16 * 4096;
constexpr std::size_t most = static_cast<std::size_t>(-1);

blob sealed_text(std::string_view text) {
    shared_buffer buffer(text.size());
    std::ranges::copy(std::as_bytes(std::span(text)), buffer.span().begin());
    return buffer;
}

struct recorded_output final : frame_output {
    bool write(std::span<const std::string_view> pieces) noexcept override {
        for (const auto& each : pieces) {
            text += each.substr(8); // without the lengths
        }
        return true;
    }
    bool has_room() noexcept override { return true; }

    std::string text;
};

/// Host and worker, with the line between them.
struct fixture {
    void write(const region_place& place, std::string_view text) {
        const auto target = host->open(place, text.size());
        BOOST_REQUIRE(target.size() == text.size());
        std::ranges::copy(std::as_bytes(std::span(text)), target.begin());
    }

    blob take(const region_place& place, std::size_t bytes) {
        std::size_t packets = most;
        return host->take(place, bytes, 0, most, packets);
    }

    fd_pair line = make_packet_pair(launcher());
    const int far_end = line.there.get();
    const int near_end = line.here.get();
    std::unique_ptr<memory_line> host = make_memory_line(std::move(line.here));
    recorded_output control;
    std::optional<shared_line> worker{std::in_place, std::move(line.there), control};
};

} // namespace

BOOST_FIXTURE_TEST_CASE(a_blob_shows_what_the_host_has_written, fixture) {
    BOOST_TEST(host->make(1, size));
    write({1, 4096}, "hello");
    const auto read = worker->open({1, 4096}, 5);
    BOOST_TEST(read.text() == "hello");
    BOOST_TEST(host->opened_bytes() == 4096u + 5);
    write({1, 0}, "hi");
    BOOST_TEST(host->opened_bytes() == 4096u + 5);
    BOOST_TEST(worker->open({1, 0}, 2).text() == "hi");
}

BOOST_FIXTURE_TEST_CASE(the_last_copy_of_a_blob_releases_its_place, fixture) {
    BOOST_TEST(host->make(3, size));
    auto read = worker->open({3, 8192}, 5);
    auto copy = read;
    read = {};
    BOOST_TEST(control.text.empty());
    copy = {};
    BOOST_TEST(control.text == R"({"type":"release","region":3,"at":8192})");
}

BOOST_FIXTURE_TEST_CASE(a_blob_outlives_the_worker_and_then_releases_nothing, fixture) {
    BOOST_TEST(host->make(1, size));
    write({1, 0}, "hello");
    auto read = worker->open({1, 0}, 5);
    worker.reset();
    host.reset();
    BOOST_TEST(read.text() == "hello");
    read = {};
    BOOST_TEST(control.text.empty());
}

BOOST_FIXTURE_TEST_CASE(a_forked_child_releases_nothing, fixture) {
    BOOST_TEST(host->make(1, size));
    auto read = worker->open({1, 0}, 5);
    const auto status = test::in_a_child([&] {
        read = {};
        return control.text.empty() ? 0 : 1;
    });
    BOOST_TEST(status == 0);
}

BOOST_FIXTURE_TEST_CASE(regions_are_taken_up_to_the_wanted_one, fixture) {
    BOOST_TEST(host->make(1, size));
    BOOST_TEST(host->make(2, size));
    BOOST_TEST(host->make(4, size));
    write({2, 0}, "two");
    write({1, 0}, "one");
    BOOST_TEST(worker->open({2, 0}, 3).text() == "two");
    BOOST_TEST(worker->open({1, 0}, 3).text() == "one");
    BOOST_CHECK_THROW(worker->open({3, 0}, 1), protocol_violation); // 4 has come instead
    BOOST_CHECK_THROW(worker->open({5, 0}, 1), protocol_violation); // not yet
    BOOST_CHECK_THROW(worker->open({0, 0}, 1), protocol_violation);
    BOOST_CHECK_NO_THROW(worker->open({4, 0}, 1));
}

BOOST_FIXTURE_TEST_CASE(a_place_lies_within_its_region, fixture) {
    BOOST_TEST(host->make(1, size));
    BOOST_CHECK_NO_THROW(worker->open({1, 0}, size));
    BOOST_CHECK_NO_THROW(worker->open({1, size - 1}, 1));
    for (const auto& [begin, bytes] : {std::pair(std::size_t(0), size + 1),
                                       {size, std::size_t(1)},
                                       {std::size_t(1), size},
                                       {std::size_t(0), std::size_t(0)},
                                       {most, std::size_t(2)},
                                       {std::size_t(2), most},
                                       {most, most}}) {
        BOOST_CHECK_THROW(worker->open({1, begin}, bytes), protocol_violation);
    }
}

BOOST_FIXTURE_TEST_CASE(packets_without_usable_memory_are_refused, fixture) {
    const auto text = encode_region({1, size});
    const unique_fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    const std::array<int, 1> passed{file.get()};
    BOOST_TEST(send_descriptors(near_end, text, passed) > 0);
    BOOST_CHECK_THROW(worker->open({1, 0}, 1), protocol_violation);
    BOOST_TEST(send_descriptors(near_end, "{}", passed) > 0);
    BOOST_CHECK_THROW(worker->open({1, 0}, 1), protocol_violation);
    BOOST_TEST(::send(near_end, text.data(), text.size(), 0) > 0);
    BOOST_CHECK_THROW(worker->open({1, 0}, 1), protocol_violation);
    const std::string long_text(300, ' ');
    BOOST_TEST(::send(near_end, long_text.data(), long_text.size(), 0) > 0);
    BOOST_CHECK_THROW(worker->open({1, 0}, 1), protocol_violation);
}

BOOST_FIXTURE_TEST_CASE(sealed_memory_comes_among_regions, fixture) {
    const auto sent = sealed_text("hello");
    BOOST_TEST(host->make(1, size));
    BOOST_TEST(host->pass(1, sent, most).has_value());
    BOOST_TEST(host->pass(2, sent.part(1, 3), most).has_value());
    BOOST_TEST(host->make(2, size));
    BOOST_TEST(host->pass(3, sent, most).has_value());
    write({2, 0}, "two");
    BOOST_TEST(worker->open({2, 0}, 3).text() == "two"); // takes the sealed memory before it
    const auto read = worker->open({2, 1, true}, 3);
    BOOST_TEST(read.text() == "ell");
    BOOST_TEST(read.is_shared());
    BOOST_CHECK_THROW(worker->open({1, 0, true}, 1), protocol_violation); // was skipped
    BOOST_CHECK_THROW(worker->open({2, 0, true}, 1), protocol_violation); // was used
    BOOST_TEST(worker->open({3, 0, true}, 5).text() == "hello");
    BOOST_CHECK_THROW(worker->open({4, 0, true}, 1), protocol_violation); // has not come
    BOOST_CHECK_NO_THROW(worker->open({1, 0}, 1));
}

BOOST_FIXTURE_TEST_CASE(sealed_memory_is_released_by_nobody, fixture) {
    BOOST_TEST(host->pass(1, sealed_text("hello"), most).has_value());
    auto read = worker->open({1, 0, true}, 5);
    host.reset();
    BOOST_TEST(read.text() == "hello");
    worker.reset();
    BOOST_TEST(read.text() == "hello");
    read = {};
    BOOST_TEST(control.text.empty());
}

BOOST_FIXTURE_TEST_CASE(a_worker_passes_its_own_and_received_memory_on, fixture) {
    BOOST_TEST(host->pass(1, sealed_text("hello"), most).has_value());
    const auto received = worker->open({1, 0, true}, 5);
    const auto first = worker->pass(received.part(1, 4), most);
    const auto second = worker->pass(sealed_text("own"), most);
    BOOST_REQUIRE((first && second));
    BOOST_TEST((*first == region_place{1, 1, true}));
    BOOST_TEST((*second == region_place{2, 0, true}));
    BOOST_TEST(take(*first, 4).text() == "ello");
    BOOST_TEST(take(*second, 3).text() == "own");
    BOOST_TEST(!worker->pass(blob::copy_of(received), most).has_value());
    BOOST_TEST(!worker->pass(received, 4).has_value());
    BOOST_TEST(worker->pass(received, 5)->region == 3u);
}

BOOST_FIXTURE_TEST_CASE(a_forked_child_passes_nothing, fixture) {
    const auto own = sealed_text("own");
    const auto status = test::in_a_child([&] { return worker->pass(own, most) ? 1 : 0; });
    BOOST_TEST(status == 0);
    BOOST_CHECK_THROW(take({1, 0, true}, 3), protocol_violation);
    BOOST_TEST(worker->pass(own, most).has_value());
    BOOST_TEST(take({1, 0, true}, 3).text() == "own");
}

BOOST_FIXTURE_TEST_CASE(attachments_of_answers_are_passed_within_the_limits, fixture) {
    recorded_output requests;
    answer_memory memory({5, 12, 1}, *worker, requests);
    const auto small = sealed_text("tiny");
    const auto large = sealed_text(std::string(6, 'x'));
    BOOST_TEST(memory.put({}).empty());
    BOOST_TEST(memory.put({small, blob::copy_of(large)}).empty());
    const auto places = memory.put({blob(), large, small, large, large});
    BOOST_REQUIRE(places.size() == 5u);
    BOOST_TEST(places[0].region == 0u);
    BOOST_TEST((places[1] == region_place{1, 0, true}));
    BOOST_TEST(places[2].region == 0u);
    BOOST_TEST((places[3] == region_place{2, 0, true}));
    BOOST_TEST(places[4].region == 0u); // 12 bytes are the most of a message
    BOOST_TEST(memory.put({large})[0].region == 3u);
    BOOST_TEST(memory.put({sealed_text(std::string(13, 'x')).part(0, 6)}).empty());
}

BOOST_FIXTURE_TEST_CASE(a_host_that_reads_no_packets_does_not_block_the_worker, fixture) {
    const auto own = sealed_text("own");
    std::uint64_t passed = 0;
    while (passed < 10'000 && worker->pass(own, most)) {
        ++passed;
    }
    BOOST_TEST(passed > 0u);
    BOOST_TEST(passed < 10'000u);
    BOOST_TEST(take({passed, 0, true}, 3).text() == "own");
}

BOOST_FIXTURE_TEST_CASE(a_worker_that_reads_no_packets_does_not_block_the_host, fixture) {
    std::uint64_t made = 0;
    while (made < 10'000 && host->make(made + 1, 4096)) {
        ++made;
    }
    BOOST_TEST(made > 0u);
    BOOST_TEST(made < 10'000u);
}

BOOST_FIXTURE_TEST_CASE(the_end_of_the_worker_fails_the_next_region, fixture) {
    worker.reset();
    BOOST_TEST(!host->make(1, size));
}

BOOST_AUTO_TEST_SUITE_END()
