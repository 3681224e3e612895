// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/shared_memory.hpp"
#include "support/in_a_child.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <linux/falloc.h>
#include <span>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace skep;

BOOST_AUTO_TEST_SUITE(shared_memory_test)

namespace {

constexpr std::size_t size = 64 * 1024;

bool can_map_writable(int fd) {
    void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped != MAP_FAILED) {
        ::munmap(mapped, size);
    }
    return mapped != MAP_FAILED;
}

unique_fd memfd_of(std::size_t bytes, int seals) {
    unique_fd fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    BOOST_REQUIRE(::ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0);
    BOOST_REQUIRE(::fcntl(fd.get(), F_ADD_SEALS, seals) == 0);
    return fd;
}

} // namespace

BOOST_AUTO_TEST_CASE(the_receiver_sees_what_the_maker_writes) {
    const auto made = make_lent_memory(size);
    BOOST_REQUIRE(!made.memory.empty());
    const auto received = map_received_memory(made.descriptor.get(), size);
    BOOST_REQUIRE(received.bytes().size() == size);
    BOOST_TEST(provide_pages(made.memory.bytes()));
    made.memory.bytes()[size - 1] = std::byte(7);
    BOOST_TEST((received.bytes()[size - 1] == std::byte(7)));
    BOOST_TEST((received.bytes()[0] == std::byte(0)));
}

BOOST_AUTO_TEST_CASE(nobody_but_the_maker_changes_the_memory) {
    const auto made = make_lent_memory(size);
    const int fd = made.descriptor.get();
    const auto received = map_received_memory(fd, size);
    const unique_fd again(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDWR | O_CLOEXEC));
    for (const int each : {fd, again.get()}) {
        BOOST_TEST(each >= 0);
        BOOST_TEST(!can_map_writable(each));
        BOOST_TEST(::pwrite(each, "x", 1, 0) == -1);
        BOOST_TEST(::fallocate(each, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size) == -1);
        BOOST_TEST(::ftruncate(each, 0) == -1);
        BOOST_TEST(::ftruncate(each, 2 * size) == -1);
        BOOST_TEST(::fcntl(each, F_ADD_SEALS, F_SEAL_WRITE) == -1);
    }
    BOOST_TEST(::mprotect(received.bytes().data(), size, PROT_READ | PROT_WRITE) == -1);
    made.memory.bytes()[0] = std::byte(1); // still
}

BOOST_AUTO_TEST_CASE(the_mapping_outlives_the_descriptor) {
    auto made = make_lent_memory(size);
    const auto received = map_received_memory(made.descriptor.get(), size);
    made.descriptor.reset();
    made.memory.bytes()[0] = std::byte(3);
    made.memory = {};
    BOOST_TEST((received.bytes()[0] == std::byte(3)));
}

BOOST_AUTO_TEST_CASE(pages_are_provided_for_parts_that_begin_anywhere) {
    const auto made = make_lent_memory(size);
    BOOST_TEST(provide_pages(made.memory.bytes().subspan(4096, 4096)));
    BOOST_TEST(provide_pages(made.memory.bytes().subspan(100, 1)));
}

BOOST_AUTO_TEST_CASE(the_maker_of_memory_for_results_sees_what_the_receiver_writes) {
    const auto made = make_result_memory(size);
    BOOST_REQUIRE(made.memory.bytes().size() == size);
    const int fd = made.descriptor.get();
    const auto received = map_result_memory(fd, size);
    BOOST_REQUIRE(received.bytes().size() == size);
    received.bytes()[size - 1] = std::byte(7);
    BOOST_TEST(provide_readable_pages(made.memory.bytes()));
    BOOST_TEST((made.memory.bytes()[size - 1] == std::byte(7)));
    BOOST_TEST(::ftruncate(fd, 0) == -1);
    BOOST_TEST(::ftruncate(fd, 2 * size) == -1);
    BOOST_TEST(::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == -1);
    BOOST_TEST(map_result_memory(fd, size + 1).empty());
}

BOOST_AUTO_TEST_CASE(bytes_that_cannot_be_read_are_found_without_a_signal) {
    const unique_fd fd(::memfd_create("test", MFD_CLOEXEC));
    BOOST_REQUIRE(::ftruncate(fd.get(), size) == 0);
    void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
    BOOST_REQUIRE(mapped != MAP_FAILED);
    const memory_mapping memory({static_cast<std::byte*>(mapped), size});
    BOOST_TEST(provide_readable_pages(memory.bytes()));
    BOOST_REQUIRE(::ftruncate(fd.get(), size / 2) == 0);
    BOOST_TEST(provide_readable_pages(memory.bytes().first(size / 2)));
    BOOST_TEST(!provide_readable_pages(memory.bytes()));
}

BOOST_AUTO_TEST_CASE(kept_pages_cannot_be_removed_and_are_written_by_the_mappings_so_far) {
    const auto made = make_result_memory(size);
    const int fd = made.descriptor.get();
    const auto received = map_result_memory(fd, size);
    result_pages().keep(fd);
    received.bytes()[0] = std::byte(7);
    BOOST_TEST((made.memory.bytes()[0] == std::byte(7)));
    BOOST_TEST(::madvise(received.bytes().data(), size, MADV_REMOVE) == -1);
    BOOST_TEST(::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == -1);
    BOOST_TEST(::pwrite(fd, "?", 1, 0) == -1);
    BOOST_TEST(!can_map_writable(fd));
    BOOST_TEST((made.memory.bytes()[0] == std::byte(7)));
}

/// Memory that can lose its pages: the test sees which pages are provided anew.
struct shrinking_memory {
    shrinking_memory() { pages.keep(fd.get()); }

    bool provide(std::size_t begin, std::size_t bytes) {
        return pages.provide(begin, std::span<const std::byte>(memory.bytes()).subspan(begin, bytes));
    }

    unique_fd fd = make_memory("test", size);
    memory_mapping memory = map_memory(fd.get(), size, PROT_READ, MAP_SHARED);
    result_pages pages;
};

BOOST_AUTO_TEST_CASE(kept_pages_are_provided_once) {
    shrinking_memory shrinking;
    BOOST_TEST(shrinking.provide(0, 4096));
    BOOST_TEST(shrinking.provide(4096, 8192));
    BOOST_TEST(shrinking.provide(20'480, 4096)); // not those before
    BOOST_REQUIRE(::ftruncate(shrinking.fd.get(), 0) == 0);
    BOOST_TEST(shrinking.provide(0, 12'288));
    BOOST_TEST(!shrinking.provide(8192, 8192));
    BOOST_TEST(!shrinking.provide(20'480, 4096));
}

BOOST_AUTO_TEST_CASE(pages_that_may_be_removed_are_provided_for_each_access) {
    const unique_fd fd = memfd_of(size, F_SEAL_SEAL);
    const auto memory = map_memory(fd.get(), size, PROT_READ, MAP_SHARED);
    const std::span<const std::byte> all = memory.bytes();
    result_pages pages;
    pages.keep(fd.get());
    BOOST_TEST(pages.provide(0, all));
    BOOST_REQUIRE(::ftruncate(fd.get(), 0) == 0);
    BOOST_TEST(!pages.provide(0, all));
}

BOOST_AUTO_TEST_CASE(places_get_pages_from_the_first_on) {
    auto made = make_lent_memory(size);
    written_memory memory(std::move(made.memory));
    BOOST_TEST(memory.open(4096, 10).size() == 10u);
    BOOST_TEST(memory.provided() == 4106u);
    BOOST_TEST(memory.open(0, 4096).size() == 4096u);
    BOOST_TEST(memory.provided() == 4106u);
    BOOST_TEST(memory.open(0, size).size() == size);
    BOOST_TEST(memory.provided() == size);
}

BOOST_AUTO_TEST_CASE(memory_that_could_vanish_is_not_mapped) {
    constexpr int fixed = F_SEAL_SHRINK | F_SEAL_GROW;
    BOOST_TEST(!map_received_memory(memfd_of(size, fixed).get(), size).empty());
    BOOST_TEST(map_received_memory(memfd_of(size, F_SEAL_GROW).get(), size).empty());
    BOOST_TEST(map_received_memory(memfd_of(size, F_SEAL_SHRINK).get(), size).empty());
    BOOST_TEST(map_received_memory(memfd_of(size - 1, fixed).get(), size).empty());
    BOOST_TEST(map_received_memory(memfd_of(size, fixed).get(), static_cast<std::size_t>(-1)).empty());
    BOOST_TEST(map_received_memory(memfd_of(size, fixed).get(), 0).empty());
}

BOOST_AUTO_TEST_CASE(other_kinds_of_descriptors_are_not_mapped) {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const unique_fd reader(ends[0]);
    const unique_fd writer(ends[1]);
    const unique_fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    for (const int each : {reader.get(), file.get(), -1}) {
        BOOST_TEST(map_received_memory(each, 1).empty());
    }
}

BOOST_AUTO_TEST_CASE(too_much_memory_is_refused) {
    BOOST_TEST(make_lent_memory(static_cast<std::size_t>(-1)).memory.empty());
    BOOST_TEST(make_lent_memory(std::size_t(1) << 62).memory.empty());
    BOOST_TEST(make_lent_memory(0).memory.empty());
}

BOOST_AUTO_TEST_CASE(a_limit_of_file_sizes_ends_no_process) {
    const auto status = test::in_a_child([] {
        const rlimit small{4096, 4096};
        ::setrlimit(RLIMIT_FSIZE, &small);
        return make_lent_memory(size).memory.empty() && !make_lent_memory(4096).memory.empty() ? 0 : 1;
    });
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(a_lack_of_descriptors_is_reported) {
    const auto status = test::in_a_child([] {
        const rlimit none{3, 3};
        ::setrlimit(RLIMIT_NOFILE, &none);
        return make_lent_memory(size).memory.empty() ? 0 : 1;
    });
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
