// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/usable_cpus.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sched.h>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace skep {

namespace {

namespace fs = std::filesystem;

/// Both hierarchies give two numbers of microseconds. No limit is "max" in version 2, and negative in version
/// 1.
std::optional<std::size_t> cpus_of(double quota, double period) {
    if (quota <= 0 || period <= 0) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(std::max(1.0, (quota + period - 1) / period));
}

std::optional<std::size_t> quota_v2(const fs::path& group) {
    std::ifstream file(group / "cpu.max");
    double quota = 0;
    double period = 0;
    return file >> quota >> period ? cpus_of(quota, period) : std::nullopt;
}

std::optional<std::size_t> quota_v1(const fs::path& group) {
    std::ifstream quota_file(group / "cpu.cfs_quota_us");
    std::ifstream period_file(group / "cpu.cfs_period_us");
    double quota = 0;
    double period = 0;
    return quota_file >> quota && period_file >> period ? cpus_of(quota, period) : std::nullopt;
}

/// Lowers `least` to the minimum of a group and its ancestors. Inside a container the path may name invisible
/// groups; the outermost visible group is then the container's own.
template <class Quota>
void lower_to_groups(std::size_t& least, const fs::path& hierarchy, const std::string& group,
                     Quota quota_of) {
    for (auto path = fs::path(group).relative_path();; path = path.parent_path()) {
        if (const auto quota = quota_of(hierarchy / path)) {
            least = least == 0 ? *quota : std::min(least, *quota);
        }
        if (path.empty()) {
            break;
        }
    }
}

bool names_cpu(const std::string& controllers) {
    return (',' + controllers + ',').find(",cpu,") != std::string::npos;
}

std::size_t affinity() {
    const auto mask = cpus_of_process();
    if (!mask) {
        return std::thread::hardware_concurrency();
    }
    std::size_t count = 0;
    for (const auto word : mask->bits) {
        count += static_cast<std::size_t>(std::popcount(word));
    }
    return count;
}

void add(cpu_mask& mask, const cpu_mask& other) noexcept {
    std::transform(mask.bits.begin(), mask.bits.end(), other.bits.begin(), mask.bits.begin(), std::bit_or());
}

} // namespace

std::optional<cpu_mask> cpus_of_thread(pid_t thread) noexcept {
    cpu_mask mask;
    auto* const set = reinterpret_cast<cpu_set_t*>(mask.bits.data());
    return ::sched_getaffinity(thread, sizeof mask.bits, set) == 0 ? std::optional(mask) : std::nullopt;
}

std::optional<cpu_mask> cpus_of_process() {
    auto all = cpus_of_thread(::getpid());
    std::error_code ec;
    for (fs::directory_iterator next("/proc/self/task", ec), end; !ec && next != end; next.increment(ec)) {
        const auto mask = cpus_of_thread(std::atoi(next->path().filename().c_str()));
        if (mask && all) { // a thread may have ended meanwhile
            add(*all, *mask);
        }
    }
    return all;
}

/// A line of /proc/self/cgroup is number:controllers:group; version 2 has number 0 and no controllers.
std::size_t cpu_quota(const fs::path& root) {
    std::size_t least = 0;
    const auto mounts = root / "sys/fs/cgroup";
    std::ifstream groups(root / "proc/self/cgroup");
    std::string number;
    std::string controllers;
    std::string group;
    while (std::getline(groups, number, ':') && std::getline(groups, controllers, ':') &&
           std::getline(groups, group)) {
        if (controllers.empty()) {
            lower_to_groups(least, mounts, group, quota_v2);
        } else if (names_cpu(controllers)) {
            lower_to_groups(least, mounts / "cpu", group, quota_v1);
        }
    }
    return least;
}

std::size_t usable_cpus(const fs::path& root) {
    const auto allowed = std::max<std::size_t>(1, affinity());
    const auto quota = cpu_quota(root);
    return quota == 0 ? allowed : std::min(allowed, quota);
}

} // namespace skep
