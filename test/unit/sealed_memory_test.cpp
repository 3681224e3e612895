// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Memory that is passed on without a copy: guarantees for its maker, and refusals by a receiver.

#include "process/sealed_memory.hpp"
#include "support/in_a_child.hpp"
#include <skep/request.hpp>
#include <skep/shared_buffer.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <linux/falloc.h>
#include <new>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace skep;

BOOST_AUTO_TEST_SUITE(sealed_memory_test)

namespace {

constexpr std::size_t bytes = 64 * 1024;
constexpr int every_seal = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

blob filled_with(char letter, std::size_t size = bytes) {
    shared_buffer buffer(size);
    std::ranges::fill(buffer.span(), static_cast<std::byte>(letter));
    return buffer;
}

int descriptor_of(const blob& shared) {
    BOOST_REQUIRE(shared.is_shared());
    return sealed_memory::behind(shared)->descriptor();
}

unique_fd copy_of(int fd) {
    return unique_fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

/// Limits a resource of this process for a time.
class limited_to {
public:
    using resource = decltype(RLIMIT_AS);

    limited_to(resource kind, rlim_t amount) : kind_(kind) {
        ::getrlimit(kind_, &before_);
        const rlimit limit{amount, before_.rlim_max};
        ::setrlimit(kind_, &limit);
    }
    ~limited_to() { ::setrlimit(kind_, &before_); }
    limited_to(const limited_to&) = delete;
    limited_to& operator=(const limited_to&) = delete;

private:
    resource kind_;
    rlimit before_{};
};

/// A memfd with all its pages, unless `is_sparse`.
unique_fd memfd_with(int seals, bool is_sparse = false, unsigned flags = 0) {
    unique_fd fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
    BOOST_REQUIRE(::ftruncate(fd.get(), bytes) == 0);
    BOOST_REQUIRE((is_sparse || ::fallocate(fd.get(), 0, 0, bytes) == 0));
    BOOST_REQUIRE((seals == 0 || ::fcntl(fd.get(), F_ADD_SEALS, seals) == 0));
    return fd;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_buffer_becomes_a_blob_with_its_bytes) {
    shared_buffer buffer(bytes);
    BOOST_TEST(buffer.size() == bytes);
    BOOST_TEST(std::ranges::all_of(buffer.span(), [](auto each) { return each == std::byte(0); }));
    buffer.span()[bytes - 1] = std::byte(7);
    const blob made = std::move(buffer);
    BOOST_TEST(made.is_shared());
    BOOST_TEST(made.size() == bytes);
    BOOST_TEST((made[bytes - 1] == std::byte(7)));
    BOOST_TEST(buffer.size() == 0u); // NOLINT(bugprone-use-after-move): it is empty
    BOOST_TEST(buffer.span().empty());
}

BOOST_AUTO_TEST_CASE(sizes_need_not_be_whole_pages) {
    const auto made = filled_with('x', 4097);
    BOOST_TEST(made.text() == std::string(4097, 'x'));
    const auto received = map_sealed_memory(copy_of(descriptor_of(made)), 4097);
    BOOST_REQUIRE(received);
    BOOST_TEST(received->bytes().size() == 4097u);
    BOOST_TEST(!map_sealed_memory(copy_of(descriptor_of(made)), 4098));
}

BOOST_AUTO_TEST_CASE(an_empty_buffer_is_an_empty_blob) {
    const blob none = shared_buffer(0);
    BOOST_TEST(none.empty());
    BOOST_TEST(!none.is_shared());
    BOOST_TEST(blob(shared_buffer()).empty());
}

BOOST_AUTO_TEST_CASE(a_buffer_is_attached_to_a_call) {
    shared_buffer buffer(bytes);
    const auto* const begin = buffer.span().data();
    const auto call = request("x").attach(std::move(buffer)).attach("small");
    BOOST_TEST(call.attachments().at(0).is_shared());
    BOOST_TEST(call.attachments().at(0).size() == bytes);
    BOOST_TEST(!call.attachments().at(1).is_shared());
    BOOST_TEST(begin != nullptr);
}

BOOST_AUTO_TEST_CASE(copies_and_parts_share_the_memory) {
    auto made = filled_with('a');
    const auto copy = made;
    BOOST_TEST(copy.is_shared());
    const auto part = copy.part(100, 50);
    BOOST_TEST(part.is_shared());
    BOOST_TEST(part.size() == 50u);
    BOOST_TEST(part.data() == copy.data() + 100);
    const auto moved = std::move(made);
    BOOST_TEST(moved.is_shared());
    BOOST_TEST(!made.is_shared()); // NOLINT(bugprone-use-after-move): it is empty
    BOOST_TEST((moved == blob::copy_of(moved)));
    BOOST_TEST(!blob::copy_of(moved).is_shared());
    made = copy;
    BOOST_TEST(made.is_shared());
    made = blob::copy_of(copy);
    BOOST_TEST(!made.is_shared());
}

BOOST_AUTO_TEST_CASE(the_last_blob_ends_the_memory) {
    auto made = filled_with('a');
    const int fd = descriptor_of(made);
    auto part = made.part(1, 1);
    made = {};
    BOOST_TEST(::fcntl(fd, F_GETFD) >= 0);
    BOOST_TEST(part.text() == "a");
    part = {};
    BOOST_TEST(::fcntl(fd, F_GETFD) == -1);
}

BOOST_AUTO_TEST_CASE(sealed_memory_does_not_change_any_more) {
    const auto made = filled_with('a');
    const int fd = descriptor_of(made);
    const unique_fd again(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDWR | O_CLOEXEC));
    for (const int each : {fd, again.get()}) {
        BOOST_TEST(each >= 0);
        BOOST_TEST(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, each, 0) == MAP_FAILED);
        BOOST_TEST(::pwrite(each, "x", 1, 0) == -1);
        BOOST_TEST(::fallocate(each, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, bytes) == -1);
        BOOST_TEST(::ftruncate(each, 0) == -1);
        BOOST_TEST(::ftruncate(each, 2 * bytes) == -1);
    }
    BOOST_TEST(::fcntl(fd, F_GET_SEALS) == every_seal);
}

BOOST_AUTO_TEST_CASE(a_receiver_shows_the_bytes_and_passes_them_on) {
    auto made = filled_with('a');
    auto received = map_sealed_memory(copy_of(descriptor_of(made)), bytes);
    BOOST_REQUIRE(received);
    made = {};
    const auto shown = sealed_memory::show(std::move(received), 8, 4);
    BOOST_TEST(shown.text() == "aaaa");
    BOOST_TEST(shown.is_shared());
    BOOST_TEST(map_sealed_memory(copy_of(descriptor_of(shown)), bytes) != nullptr);
}

BOOST_AUTO_TEST_CASE(memory_that_somebody_writes_is_not_sealed) {
    const auto memory = std::make_shared<sealed_memory>(bytes);
    void* const other = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->descriptor(), 0);
    BOOST_REQUIRE(other != MAP_FAILED);
    memory->room()[3] = std::byte('x');
    memory->seal();
    const auto shown = sealed_memory::show(memory, 3, 1);
    BOOST_TEST(shown.text() == "x");
    BOOST_TEST(!shown.is_shared());
    ::munmap(other, bytes);
}

BOOST_AUTO_TEST_CASE(memory_without_each_of_its_seals_is_refused) {
    BOOST_TEST(map_sealed_memory(memfd_with(every_seal), bytes) != nullptr);
    for (const int missing : {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE, F_SEAL_SEAL}) {
        BOOST_TEST(map_sealed_memory(memfd_with(every_seal & ~missing), bytes) == nullptr);
    }
    BOOST_TEST(map_sealed_memory(memfd_with(0), bytes) == nullptr);
}

BOOST_AUTO_TEST_CASE(memory_with_holes_is_refused) {
    BOOST_TEST(map_sealed_memory(memfd_with(every_seal, true), bytes) == nullptr);
    unique_fd half(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    BOOST_REQUIRE(::ftruncate(half.get(), 2 * bytes) == 0);
    BOOST_REQUIRE(::fallocate(half.get(), 0, bytes, bytes) == 0); // the last half has pages
    BOOST_REQUIRE(::fcntl(half.get(), F_ADD_SEALS, every_seal) == 0);
    BOOST_TEST(map_sealed_memory(std::move(half), bytes) == nullptr);
    unique_fd vast(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    BOOST_REQUIRE(::ftruncate(vast.get(), off_t(8) << 40) == 0);
    BOOST_REQUIRE(::fcntl(vast.get(), F_ADD_SEALS, every_seal) == 0);
    BOOST_TEST(map_sealed_memory(std::move(vast), bytes) == nullptr);
}

BOOST_AUTO_TEST_CASE(memory_is_not_smaller_than_announced) {
    BOOST_TEST(map_sealed_memory(memfd_with(every_seal), bytes + 1) == nullptr);
    BOOST_TEST(map_sealed_memory(memfd_with(every_seal), static_cast<std::size_t>(-1)) == nullptr);
    BOOST_TEST(map_sealed_memory(memfd_with(every_seal), 0) == nullptr);
}

BOOST_AUTO_TEST_CASE(huge_pages_without_a_reserve_are_refused) {
    unique_fd huge(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
    constexpr std::size_t size = std::size_t(1) << 30;           // of any size of huge pages
    if (huge.get() >= 0 && ::ftruncate(huge.get(), size) == 0) { // else the kernel has none
        BOOST_TEST(::fcntl(huge.get(), F_ADD_SEALS, every_seal) == 0);
        BOOST_TEST(map_sealed_memory(std::move(huge), size) == nullptr);
    }
}

BOOST_AUTO_TEST_CASE(other_kinds_of_descriptors_are_refused) {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    unique_fd reader(ends[0]);
    const unique_fd writer(ends[1]);
    BOOST_TEST(map_sealed_memory(std::move(reader), 1) == nullptr);
    BOOST_TEST(map_sealed_memory(unique_fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), 1) == nullptr);
    BOOST_TEST(map_sealed_memory(unique_fd(::open("/dev/shm", O_RDONLY | O_CLOEXEC)), 1) == nullptr);
    BOOST_TEST(map_sealed_memory(unique_fd(::open("/dev/zero", O_RDONLY | O_CLOEXEC)), 1) == nullptr);
    BOOST_TEST(map_sealed_memory(unique_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), 1) == nullptr);
    BOOST_TEST(map_sealed_memory(unique_fd(), 1) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_lack_of_memory_is_an_error_of_the_maker) {
    BOOST_CHECK_THROW(shared_buffer(static_cast<std::size_t>(-1)), std::bad_alloc);
    BOOST_CHECK_THROW(shared_buffer(std::size_t(1) << 62), std::bad_alloc);
}

BOOST_AUTO_TEST_CASE(a_lack_of_descriptors_is_an_error_of_the_maker) {
    const auto status = test::in_a_child([] {
        const limited_to none(RLIMIT_NOFILE, 3);
        try {
            shared_buffer buffer(bytes);
        } catch (const std::bad_alloc&) {
            return 0;
        }
        return 1;
    });
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(a_lack_of_address_space_is_no_fault_of_the_memory) {
    const auto status = test::in_a_child([] {
        auto memory = memfd_with(every_seal);
        try {
            const limited_to none(RLIMIT_AS, 1);
            map_sealed_memory(std::move(memory), bytes);
        } catch (const std::bad_alloc&) {
            return 0;
        }
        return 1;
    });
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
