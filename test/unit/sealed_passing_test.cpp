// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Sealed memory on its way over a line: arrivals, and refusals of the memory of a hostile worker.

#include "process/descriptor_passing.hpp"
#include "process/launcher.hpp"
#include "process/memory_line.hpp"
#include "process/sealed_memory.hpp"
#include "process/sealed_passing.hpp"
#include "support/in_a_child.hpp"
#include "wire/memory_packets.hpp"
#include "wire/protocol_violation.hpp"
#include <skep/shared_buffer.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <utility>

using namespace skep;

BOOST_AUTO_TEST_SUITE(sealed_passing_test)

namespace {

constexpr std::size_t any_size = static_cast<std::size_t>(-1);

blob shared_text(std::string_view text) {
    shared_buffer buffer(text.size());
    std::ranges::copy(std::as_bytes(std::span(text)), buffer.span().begin());
    return buffer;
}

std::size_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

bool says(const protocol_violation& violation, std::string_view text) {
    return std::string_view(violation.what()).find(text) != std::string_view::npos;
}

/// A host, and the end of its worker.
struct fixture {
    bool pass(std::uint64_t number, const blob& bytes) {
        return pass_sealed(worker.get(), number, bytes, any_size).has_value();
    }
    bool send(std::string_view packet, int descriptor) {
        const std::array<int, 1> passed{descriptor};
        return send_descriptors(worker.get(), packet, passed) > 0;
    }
    blob take(std::uint64_t number, std::size_t bytes, std::size_t begin = 0) {
        return host->take({number, begin, true}, bytes, 0, any_size, packets);
    }
    void check_refused(std::uint64_t number, std::size_t bytes, std::string_view text) {
        BOOST_CHECK_EXCEPTION(take(number, bytes), protocol_violation,
                              [&](const auto& violation) { return says(violation, text); });
    }

    std::size_t packets = any_size;
    fd_pair line = make_packet_pair(launcher());
    unique_fd worker = std::move(line.there);
    std::unique_ptr<memory_line> host = make_memory_line(std::move(line.here));
};

} // namespace

BOOST_FIXTURE_TEST_CASE(the_descriptor_of_an_empty_packet_is_closed, fixture) {
    const auto before = open_descriptors();
    const std::array<int, 2> passed{worker.get(), worker.get()};
    BOOST_REQUIRE_EQUAL(send_descriptors(worker.get(), {}, passed), 0);
    check_refused(1, 1, "has not come");
    BOOST_CHECK_EQUAL(open_descriptors(), before);
}

BOOST_FIXTURE_TEST_CASE(memory_comes_as_it_was_sealed, fixture) {
    const auto sent = shared_text("hello");
    const auto part = sent.part(1, 3);
    const auto place = pass_sealed(worker.get(), 1, part, any_size);
    BOOST_REQUIRE(place.has_value());
    BOOST_TEST((*place == region_place{1, 1, true}));
    const auto taken = host->take(*place, part.size(), 0, any_size, packets);
    BOOST_TEST(taken.text() == "ell");
    BOOST_TEST(taken.is_shared());
}

BOOST_FIXTURE_TEST_CASE(received_memory_is_passed_on, fixture) {
    BOOST_TEST(pass(1, shared_text("hello")));
    const auto taken = take(1, 5);
    BOOST_TEST(pass(2, taken));
    BOOST_TEST(take(2, 5).text() == "hello");
    BOOST_TEST(host->pass(1, taken, 5).has_value());
    sealed_intake intake;
    message_with_descriptor packet;
    BOOST_TEST(receive_descriptor(worker.get(), most_packet_bytes, packet) > 0);
    intake.add(*decode_sealed(packet.text), std::move(packet.descriptor));
    BOOST_TEST(intake.take({1, 0, true}, 5).text() == "hello");
}

BOOST_FIXTURE_TEST_CASE(other_bytes_and_memory_beyond_the_limit_are_not_passed, fixture) {
    const auto shared = shared_text("hello");
    BOOST_TEST(!host->pass(1, blob::copy_of(shared), any_size).has_value());
    BOOST_TEST(!host->pass(1, blob(), any_size).has_value());
    BOOST_TEST(!host->pass(1, shared, 4).has_value());
    BOOST_TEST(!host->pass(1, shared.part(0, 1), 4).has_value()); // all of the memory counts
    BOOST_TEST(host->pass(1, shared, 5).has_value());
}

BOOST_FIXTURE_TEST_CASE(skipped_memory_is_closed, fixture) {
    const auto before = open_descriptors();
    {
        const auto sent = shared_text("hello");
        for (std::uint64_t number = 1; number <= 20; ++number) {
            BOOST_TEST(pass(number, sent));
        }
    }
    auto taken = take(20, 5);
    BOOST_TEST(open_descriptors() == before + 1);
    taken = {};
    BOOST_TEST(open_descriptors() == before);
    check_refused(19, 5, "is not there or was used before");
}

BOOST_FIXTURE_TEST_CASE(memory_is_used_once, fixture) {
    BOOST_TEST(pass(1, shared_text("hello")));
    BOOST_TEST(take(1, 5).text() == "hello");
    check_refused(1, 5, "was used before");
    check_refused(0, 5, "is not there");
}

BOOST_FIXTURE_TEST_CASE(announced_memory_has_come, fixture) {
    check_refused(1, 5, "sealed memory 1, which has not come");
    BOOST_TEST(pass(1, shared_text("hello")));
    check_refused(2, 5, "sealed memory 2, which has not come");
    BOOST_TEST(pass(4, shared_text("hello")));
    check_refused(3, 5, "sealed memory 3 is named by an attachment, and is not there");
}

BOOST_FIXTURE_TEST_CASE(numbers_rise, fixture) {
    BOOST_TEST(pass(2, shared_text("hello")));
    BOOST_TEST(pass(2, shared_text("hello")));
    BOOST_TEST(take(2, 5).size() == 5u);
    check_refused(3, 5, "comes after a higher number");
}

BOOST_FIXTURE_TEST_CASE(a_place_lies_within_its_memory, fixture) {
    const auto sent = shared_text("hello");
    std::uint64_t number = 0;
    for (const auto& [begin, count] : {std::pair(std::size_t(0), std::size_t(6)),
                                       {5, 1},
                                       {1, 5},
                                       {0, 0},
                                       {any_size, 2},
                                       {2, any_size},
                                       {any_size, any_size}}) {
        BOOST_TEST(pass(++number, sent));
        BOOST_CHECK_THROW(take(number, count, begin), protocol_violation);
    }
    BOOST_TEST(pass(++number, sent));
    BOOST_TEST(take(number, 1, 4).text() == "o");
}

BOOST_FIXTURE_TEST_CASE(memory_beyond_the_limit_is_refused, fixture) {
    BOOST_TEST(pass(1, shared_text("hello")));
    BOOST_CHECK_EXCEPTION(host->take({1, 0, true}, 1, 0, 4, packets), protocol_violation,
                          [](const auto& violation) { return says(violation, "limit shared.bytes"); });
    BOOST_TEST(pass(2, shared_text("hello")));
    BOOST_CHECK_NO_THROW(host->take({2, 0, true}, 5, 0, 5, packets));
}

BOOST_FIXTURE_TEST_CASE(other_memory_than_announced_is_refused, fixture) {
    const unique_fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    const unique_fd open_memory(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    BOOST_REQUIRE(::ftruncate(open_memory.get(), 4096) == 0);
    BOOST_TEST(send(encode_sealed({1, 4096}), file.get()));
    check_refused(1, 4096, "no memory with all its seals");
    BOOST_TEST(send(encode_sealed({2, 4096}), open_memory.get()));
    check_refused(2, 4096, "no memory with all its seals");
    const auto small = shared_text("hello");
    BOOST_TEST(send(encode_sealed({3, 4096}), sealed_memory::behind(small)->descriptor()));
    check_refused(3, 4096, "smaller than announced");
    BOOST_TEST(send(encode_sealed({4, 64}), worker.get())); // the line itself
    check_refused(4, 64, "no memory with all its seals");
}

BOOST_FIXTURE_TEST_CASE(packets_without_a_descriptor_or_of_another_kind_are_refused, fixture) {
    const auto sent = shared_text("hello");
    const int fd = sealed_memory::behind(sent)->descriptor();
    for (const auto& text : {std::string("{}"), encode_region({1, 4096}), std::string(300, ' ')}) {
        BOOST_TEST(send(text, fd));
        BOOST_CHECK_THROW(take(1, 5), protocol_violation);
    }
    const auto text = encode_sealed({1, 5});
    BOOST_TEST(::send(worker.get(), text.data(), text.size(), 0) > 0);
    check_refused(1, 5, "comes without a descriptor");
    BOOST_TEST(::send(worker.get(), "", 0, 0) == 0);
    check_refused(2, 5, "which has not come");
}

BOOST_FIXTURE_TEST_CASE(surplus_descriptors_are_closed, fixture) {
    const auto sent = shared_text("hello");
    const int fd = sealed_memory::behind(sent)->descriptor();
    const auto before = open_descriptors();
    const std::array<int, 2> two{fd, fd};
    BOOST_TEST(send_descriptors(worker.get(), encode_sealed({1, 5}), two) > 0);
    BOOST_TEST(take(1, 5).text() == "hello");
    std::array<int, most_passed_descriptors> many{};
    many.fill(fd);
    BOOST_TEST(send_descriptors(worker.get(), encode_sealed({2, 5}), many) > 0);
    BOOST_TEST(take(2, 5).text() == "hello");
    BOOST_TEST(open_descriptors() == before);
}

BOOST_FIXTURE_TEST_CASE(a_flood_of_packets_blocks_its_sender_only, fixture) {
    const auto before = open_descriptors();
    {
        const auto sent = shared_text("hello");
        std::uint64_t number = 0;
        while (number < 100'000 && pass(number + 1, sent)) {
            ++number;
        }
        BOOST_TEST(number < 100'000u);
        BOOST_TEST(take(number, 5).text() == "hello");
        BOOST_TEST(pass(number + 1, sent)); // there is room again
    }
    BOOST_TEST(open_descriptors() == before);
}

BOOST_FIXTURE_TEST_CASE(a_host_does_not_read_packets_without_end, fixture) {
    const auto sent = shared_text("hello");
    const int fd = sealed_memory::behind(sent)->descriptor();
    std::atomic<bool> is_over = false;
    std::thread flood([&] {
        for (std::uint64_t number = 1; !is_over; ++number) {
            while (!is_over && !send(encode_sealed({number, 5}), fd)) {
                std::this_thread::yield();
            }
        }
    });
    packets = 4096;
    BOOST_CHECK_THROW(take(any_size, 5), protocol_violation);
    is_over = true;
    flood.join();
}

BOOST_FIXTURE_TEST_CASE(a_message_takes_a_limited_number_of_packets, fixture) {
    for (std::uint64_t number = 1; number <= 5; ++number) {
        BOOST_TEST(pass(number, shared_text("hello")));
    }
    packets = 4;
    BOOST_TEST(take(2, 5).size() == 5u);
    BOOST_TEST(packets == 2u);
    check_refused(5, 5, "too many packets");
}

BOOST_FIXTURE_TEST_CASE(a_lack_of_descriptors_is_no_fault_of_the_worker, fixture) {
    BOOST_TEST(pass(1, shared_text("hello")));
    const auto status = test::in_a_child([&] {
        const rlimit none{3, 3};
        ::setrlimit(RLIMIT_NOFILE, &none);
        try {
            take(1, 5);
        } catch (const std::bad_alloc&) {
            return 0;
        }
        return 1;
    });
    BOOST_TEST(status == 0);
}

BOOST_FIXTURE_TEST_CASE(the_end_of_the_worker_fails_the_next_pass, fixture) {
    worker.reset();
    BOOST_TEST(!host->pass(1, shared_text("hello"), any_size).has_value());
    check_refused(1, 5, "which has not come");
}

BOOST_FIXTURE_TEST_CASE(memory_comes_from_a_worker_that_ended_with_unread_packets, fixture) {
    const auto sent = shared_text("hello");
    BOOST_TEST(host->pass(1, sent, any_size).has_value());
    BOOST_TEST(pass(1, sent));
    BOOST_TEST(pass(2, sent));
    worker.reset();
    BOOST_TEST(take(2, 5).text() == "hello");
}

BOOST_FIXTURE_TEST_CASE(taken_memory_outlives_the_line, fixture) {
    BOOST_TEST(pass(1, shared_text("hello")));
    const auto taken = take(1, 5);
    host.reset();
    worker.reset();
    BOOST_TEST(taken.text() == "hello");
}

BOOST_AUTO_TEST_SUITE_END()
