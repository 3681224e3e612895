// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/shared_memory.hpp"

#include "process/held_signal.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skep {

namespace {

constexpr int fixed_size = F_SEAL_SHRINK | F_SEAL_GROW;

/// A limit of the size of files (`ulimit -f`) raises a signal as well.
bool set_size(int descriptor, std::size_t bytes) noexcept {
    const held_signal excess(SIGXFSZ);
    return std::in_range<off_t>(bytes) && ::ftruncate(descriptor, static_cast<off_t>(bytes)) == 0;
}

/// `seals`: beside the seals of the size.
nameless_memory make_fixed_memory(const char* name, std::size_t bytes, int protection, int seals) noexcept {
    nameless_memory made;
    made.descriptor = make_memory(name, bytes);
    const int fd = made.descriptor.get();
    if (fd < 0) {
        return {};
    }
    made.memory = map_memory(fd, bytes, protection, MAP_SHARED);
    if (made.memory.empty() || ::fcntl(fd, F_ADD_SEALS, fixed_size | seals) != 0) {
        return {};
    }
    return made;
}

/// `bytes`: may begin within a page, because places begin at smaller steps where pages are larger.
bool populate(std::span<const std::byte> bytes, int advice) noexcept {
    static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto before = reinterpret_cast<std::uintptr_t>(bytes.data()) % page;
    int result = 0;
    do {
        result = ::madvise(const_cast<std::byte*>(bytes.data() - before), bytes.size() + before, advice);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

memory_mapping map_received(int descriptor, std::size_t bytes, int protection) noexcept {
    struct stat status {};
    const int seals = ::fcntl(descriptor, F_GET_SEALS);
    const bool is_fixed = seals >= 0 && (seals & fixed_size) == fixed_size;
    const bool is_large_enough =
        ::fstat(descriptor, &status) == 0 && std::cmp_greater_equal(status.st_size, bytes);
    return bytes > 0 && is_fixed && is_large_enough ? map_memory(descriptor, bytes, protection, MAP_SHARED)
                                                    : memory_mapping();
}

} // namespace

memory_mapping::~memory_mapping() {
    if (!bytes_.empty()) {
        ::munmap(bytes_.data(), bytes_.size());
    }
}

unique_fd make_memory(const char* name, std::size_t bytes) noexcept {
    unique_fd made(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    return made.get() >= 0 && set_size(made.get(), bytes) ? std::move(made) : unique_fd();
}

memory_mapping map_memory(int descriptor, std::size_t bytes, int protection, int kind) noexcept {
    void* const begin = ::mmap(nullptr, bytes, protection, kind, descriptor, 0);
    return begin == MAP_FAILED ? memory_mapping() : memory_mapping({static_cast<std::byte*>(begin), bytes});
}

nameless_memory make_lent_memory(std::size_t bytes) noexcept {
    return make_fixed_memory("skep-region", bytes, PROT_READ | PROT_WRITE, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
}

nameless_memory make_result_memory(std::size_t bytes) noexcept {
    auto made = make_fixed_memory("skep-results", bytes, PROT_READ, 0);
    const bool is_readable = !made.memory.empty() && provide_readable_pages(made.memory.bytes().first(1));
    return is_readable ? std::move(made) : nameless_memory();
}

bool provide_pages(std::span<std::byte> bytes) noexcept {
    return populate(bytes, MADV_POPULATE_WRITE);
}

bool provide_readable_pages(std::span<const std::byte> bytes) noexcept {
    return populate(bytes, MADV_POPULATE_READ);
}

memory_mapping map_received_memory(int descriptor, std::size_t bytes) noexcept {
    return map_received(descriptor, bytes, PROT_READ);
}

memory_mapping map_result_memory(int descriptor, std::size_t bytes) noexcept {
    return map_received(descriptor, bytes, PROT_READ | PROT_WRITE);
}

std::span<std::byte> written_memory::open(std::size_t begin, std::size_t bytes) noexcept {
    const auto all = memory_.bytes();
    const auto end = begin + bytes;
    if (end > provided_) {
        if (!provide_pages(all.subspan(provided_, end - provided_))) {
            return {};
        }
        provided_ = end;
    }
    return all.subspan(begin, bytes);
}

void result_pages::keep(int descriptor) noexcept {
    are_kept_ = ::fcntl(descriptor, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) == 0;
}

bool result_pages::provide(std::size_t begin, std::span<const std::byte> bytes) noexcept {
    const auto end = begin + bytes.size();
    if (end <= provided_) {
        return true;
    }
    if (!provide_readable_pages(bytes)) {
        return false;
    }
    if (are_kept_ && begin <= provided_) {
        provided_ = end;
    }
    return true;
}

} // namespace skep
