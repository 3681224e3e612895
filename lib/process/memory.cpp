// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/memory.hpp"

#include "process/descriptors.hpp"
#include <skep/proportional_bytes.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace skep {

namespace {

/// Returns the beginning of a file of /proc, which never blocks; empty if it cannot be read.
template <std::size_t Size>
std::string_view read_file(const char* path, std::array<char, Size>& buffer) noexcept {
    const unique_fd file(::open(path, O_RDONLY | O_CLOEXEC));
    const auto count = file.get() < 0 ? -1 : ::read(file.get(), buffer.data(), buffer.size());
    return count <= 0 ? std::string_view() : std::string_view(buffer.data(), static_cast<std::size_t>(count));
}

std::uint64_t leading_number(std::string_view text) noexcept {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// Returns the path of a file of the process, with a null character at its end.
std::array<char, 40> path_of(pid_t pid, std::string_view file) noexcept {
    std::array<char, 40> path{"/proc/"};
    auto* const end = std::to_chars(path.data() + 6, path.data() + path.size(), pid).ptr;
    file.copy(end, file.size());
    return path;
}

/// Returns the number behind `key`; 0 without the key.
std::uint64_t number_after(std::string_view key, std::string_view text) noexcept {
    const auto found = text.find(key);
    const auto begin =
        found == std::string_view::npos ? found : text.find_first_not_of(' ', found + key.size());
    return begin == std::string_view::npos ? 0 : leading_number(text.substr(begin));
}

} // namespace

resident_memory process_resident_memory(pid_t pid) noexcept {
    std::array<char, 128> buffer{};
    auto text = read_file(path_of(pid, "/statm").data(), buffer); // "size resident shared ..." in pages
    static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const auto next_number = [&text] {
        text.remove_prefix(std::min(text.find(' '), text.size() - 1) + 1);
        return leading_number(text) * page;
    };
    if (text.empty()) {
        return {};
    }
    const auto bytes = next_number();
    return {bytes, text.empty() ? 0 : next_number()};
}

std::uint64_t oom_kills() noexcept {
    std::array<char, 16384> buffer{};
    return number_after("\noom_kill ", read_file("/proc/vmstat", buffer));
}

std::uint64_t proportional_bytes(pid_t process) noexcept {
    std::array<char, 2048> buffer{};
    return number_after("\nPss:", read_file(path_of(process, "/smaps_rollup").data(), buffer)) * 1024;
}

} // namespace skep
