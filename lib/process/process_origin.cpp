// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/process_origin.hpp"

#include "process/descriptors.hpp"

#include <array>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <time.h>
#include <unistd.h>

namespace skep {

namespace {

/// Returns an empty text for a file that cannot be read.
std::string read_proc_file(const std::string& path) {
    const unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 1024> buffer{};
    const auto count = file.get() < 0 ? -1 : ::read(file.get(), buffer.data(), buffer.size());
    return count <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(count));
}

} // namespace

std::optional<process_origin> origin_of(pid_t pid) {
    const auto text = read_proc_file("/proc/" + std::to_string(pid) + "/stat");
    const auto name_end = text.rfind(')'); // the name may hold anything
    process_origin origin;
    const bool is_read =
        name_end != text.npos &&
        std::sscanf(text.c_str() + name_end + 1,
                    " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                    "%*d %lld",
                    &origin.parent, &origin.start) == 2;
    return is_read ? std::optional(origin) : std::nullopt;
}

long long present_ticks() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    const long long per_second = ::sysconf(_SC_CLK_TCK);
    return now.tv_sec * per_second + now.tv_nsec * per_second / 1'000'000'000;
}

std::optional<pid_t> pid_of(int pidfd) {
    constexpr std::string_view label = "\nPid:";
    const auto text = read_proc_file("/proc/self/fdinfo/" + std::to_string(pidfd));
    const auto place = text.find(label);
    pid_t pid = 0;
    const bool is_read =
        place != text.npos && std::sscanf(text.c_str() + place + label.size(), " %d", &pid) == 1;
    return is_read ? std::optional(pid) : std::nullopt;
}

} // namespace skep
