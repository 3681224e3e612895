// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/cpu_time.hpp"

#include <chrono>
#include <ctime>

namespace skep {

std::optional<duration> process_cpu_time(pid_t pid) noexcept {
    clockid_t clock_of_process{};
    timespec time{};
    if (::clock_getcpuclockid(pid, &clock_of_process) != 0 || ::clock_gettime(clock_of_process, &time) != 0) {
        return std::nullopt;
    }
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

} // namespace skep
