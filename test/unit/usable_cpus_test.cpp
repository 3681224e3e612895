// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/usable_cpus.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sched.h>
#include <string>
#include <thread>
#include <unistd.h>

using namespace skep;

namespace {

namespace fs = std::filesystem;

/// The part of /proc and /sys that tells of control groups.
class machine {
public:
    machine() : root_(fs::temp_directory_path() / ("skep_machine_" + std::to_string(::getpid()))) {
        fs::remove_all(root_);
        fs::create_directories(root_);
    }
    ~machine() { fs::remove_all(root_); }
    machine(const machine&) = delete;
    machine& operator=(const machine&) = delete;

    void write(const std::string& path, const std::string& text) const {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }

    const fs::path& root() const noexcept { return root_; }
    std::size_t quota() const { return cpu_quota(root_); }

private:
    fs::path root_;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(usable_cpus_test, machine)

BOOST_AUTO_TEST_CASE(without_control_groups_nothing_is_limited) {
    BOOST_TEST(quota() == 0u);
}

BOOST_AUTO_TEST_CASE(version_2) {
    write("proc/self/cgroup", "0::/service/web\n");
    write("sys/fs/cgroup/service/web/cpu.max", "max 100000\n");
    BOOST_TEST(quota() == 0u);
    write("sys/fs/cgroup/service/web/cpu.max", "400000 100000\n");
    BOOST_TEST(quota() == 4u);
}

BOOST_AUTO_TEST_CASE(a_part_of_a_cpu_counts_as_one) {
    write("proc/self/cgroup", "0::/\n");
    for (const auto& [text, cpus] : {std::pair("50000 100000", 1u), std::pair("100000 100000", 1u),
                                     std::pair("150000 100000", 2u), std::pair("200000 100000", 2u)}) {
        write("sys/fs/cgroup/cpu.max", text);
        BOOST_TEST(quota() == cpus, text);
    }
}

BOOST_AUTO_TEST_CASE(the_groups_around_it_limit_it_too) {
    write("proc/self/cgroup", "0::/service/web\n");
    write("sys/fs/cgroup/service/cpu.max", "200000 100000\n");
    write("sys/fs/cgroup/service/web/cpu.max", "800000 100000\n");
    BOOST_TEST(quota() == 2u);
}

BOOST_AUTO_TEST_CASE(version_1) {
    write("proc/self/cgroup", "5:memory:/web\n3:cpu,cpuacct:/web\n1:cpuset:/\n0::/\n");
    write("sys/fs/cgroup/cpu/web/cpu.cfs_quota_us", "-1\n");
    write("sys/fs/cgroup/cpu/web/cpu.cfs_period_us", "100000\n");
    BOOST_TEST(quota() == 0u);
    write("sys/fs/cgroup/cpu/web/cpu.cfs_quota_us", "300000\n");
    BOOST_TEST(quota() == 3u);
}

// As with a bind mount of the hierarchy: the path is the host's, the files are the container's own.
BOOST_AUTO_TEST_CASE(in_a_container_the_outermost_group_is_its_own) {
    write("proc/self/cgroup", "0::/docker/0123456789abcdef\n");
    write("sys/fs/cgroup/cpu.max", "200000 100000\n");
    BOOST_TEST(quota() == 2u);
}

BOOST_AUTO_TEST_CASE(nonsense_limits_nothing) {
    write("proc/self/cgroup", "0::/web\nwhat\n");
    for (const auto* const text : {"", "x", "100000", "100000 0", "0 100000", "-5 -5", "nan nan"}) {
        write("sys/fs/cgroup/web/cpu.max", text);
        BOOST_TEST(quota() == 0u, text);
    }
}

BOOST_AUTO_TEST_CASE(the_least_of_quota_and_affinity_holds) {
    const auto all = std::max(1u, std::thread::hardware_concurrency());
    BOOST_TEST(usable_cpus(root()) >= 1u);
    BOOST_TEST(usable_cpus(root()) <= all);
    write("proc/self/cgroup", "0::/\n");
    write("sys/fs/cgroup/cpu.max", "10000 100000\n");
    BOOST_TEST(usable_cpus(root()) == 1u);
    write("sys/fs/cgroup/cpu.max", "max 100000\n");
    BOOST_TEST(usable_cpus(root()) >= 1u);
}

BOOST_AUTO_TEST_CASE(a_pinned_thread_says_nothing_of_the_process) {
    const auto usual = usable_cpus(root());
    std::size_t seen = 0;
    std::thread([&] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(::sched_getcpu(), &one);
        ::sched_setaffinity(0, sizeof one, &one);
        const auto own = cpus_of_thread(0);
        BOOST_TEST((own && own != cpu_mask()));
        seen = usable_cpus(root());
    }).join();
    BOOST_TEST(seen == usual);
}

// Beside others, the first thread is a thread like any.
BOOST_AUTO_TEST_CASE(a_pinned_first_thread_neither) {
    const auto usual = usable_cpus(root());
    cpu_set_t before;
    BOOST_REQUIRE_EQUAL(::sched_getaffinity(0, sizeof before, &before), 0);
    std::mutex end;
    end.lock();
    std::thread other([&] { const std::lock_guard wait(end); });
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ::sched_setaffinity(0, sizeof one, &one);
    const auto seen = usable_cpus(root());
    ::sched_setaffinity(0, sizeof before, &before);
    end.unlock();
    other.join();
    BOOST_TEST(seen == usual);
}

BOOST_AUTO_TEST_SUITE_END()
