// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/memory.hpp"
#include <skep/proportional_bytes.hpp>

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <cstddef>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skep::test {

namespace {

constexpr std::size_t ballast_bytes = 64u << 20;

/// Memory in use that a fork shares.
class ballast {
public:
    ballast() {
        data_ = ::mmap(nullptr, ballast_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        BOOST_REQUIRE(data_ != MAP_FAILED);
        std::memset(data_, 1, ballast_bytes);
    }
    ~ballast() { ::munmap(data_, ballast_bytes); }
    ballast(const ballast&) = delete;
    ballast& operator=(const ballast&) = delete;

private:
    void* data_ = nullptr;
};

} // namespace

BOOST_AUTO_TEST_SUITE(process_memory)

BOOST_AUTO_TEST_CASE(counts_pages_of_a_process_once) {
    const auto before = proportional_bytes(::getpid());
    BOOST_TEST(before > 0u);
    const ballast data;
    const auto alone = proportional_bytes(::getpid());
    BOOST_TEST(alone >= before + ballast_bytes * 9 / 10);
    BOOST_TEST(process_resident_memory(::getpid()).bytes >= ballast_bytes);
}

BOOST_AUTO_TEST_CASE(counts_half_of_what_two_processes_share) {
    const ballast data;
    const auto alone = proportional_bytes(::getpid());
    const pid_t copy = ::fork();
    if (copy == 0) {
        ::pause();
        ::_exit(0);
    }
    const auto of_copy = proportional_bytes(copy);
    BOOST_TEST(of_copy >= ballast_bytes * 4 / 10);
    BOOST_TEST(of_copy + proportional_bytes(::getpid()) <= alone + ballast_bytes / 2);
    ::kill(copy, SIGKILL);
    ::waitpid(copy, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(is_zero_for_no_process) {
    BOOST_TEST(proportional_bytes(0) == 0u);
    BOOST_TEST(proportional_bytes(-1) == 0u);
    BOOST_TEST(proportional_bytes(1 << 30) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
