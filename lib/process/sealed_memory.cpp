// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/sealed_memory.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <utility>

namespace skep {

namespace {

constexpr int all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

constexpr std::size_t bytes_of_block = 512; // of stat::st_blocks

/// Linux before 5.14 provides pages by the file.
bool provide_all_pages(int descriptor, std::span<std::byte> bytes) noexcept {
    return provide_pages(bytes) || ::fallocate(descriptor, 0, 0, static_cast<off_t>(bytes.size())) == 0;
}

bool has_all_seals(int descriptor) noexcept {
    const int seals = ::fcntl(descriptor, F_GET_SEALS);
    return seals >= 0 && (seals & all_seals) == all_seals;
}

/// Returns false for huge pages of hugetlbfs, which may be lacking on access, sealed or not.
bool has_ordinary_pages(int descriptor) noexcept {
    struct statfs status {};
    return ::fstatfs(descriptor, &status) == 0 && status.f_type == TMPFS_MAGIC;
}

/// Returns true if the memory has this size or more, and no holes.
bool is_whole(int descriptor, std::size_t bytes) noexcept {
    struct stat status {};
    if (bytes == 0 || ::fstat(descriptor, &status) != 0 || !std::cmp_greater_equal(status.st_size, bytes)) {
        return false;
    }
    const auto provided = static_cast<std::size_t>(status.st_blocks) * bytes_of_block;
    return std::cmp_greater_equal(provided, status.st_size);
}

/// Linux before 6.7 maps memory with a seal against writing in private only.
memory_mapping map_read_only(int descriptor, std::size_t bytes) noexcept {
    return map_memory(descriptor, bytes, PROT_READ, MAP_PRIVATE);
}

} // namespace

sealed_memory::sealed_memory(std::size_t bytes) : descriptor_(make_memory("skep-buffer", bytes)) {
    const int fd = descriptor_.get();
    if (fd >= 0) {
        mapping_ = map_memory(fd, bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
    }
    if (mapping_.empty() || !provide_all_pages(fd, mapping_.bytes())) {
        throw std::bad_alloc();
    }
}

void sealed_memory::seal() noexcept {
    if (!show_read_only() || ::fcntl(descriptor_.get(), F_ADD_SEALS, all_seals) != 0) {
        descriptor_.reset();
    }
}

/// Ends the mapping that can be written: the kernel seals no memory with such a mapping. Without another
/// mapping for the bytes, leaves everything as it is.
bool sealed_memory::show_read_only() noexcept {
    auto shown = map_read_only(descriptor_.get(), mapping_.bytes().size());
    if (shown.empty()) {
        return false;
    }
    std::swap(mapping_, shown);
    return true;
}

blob sealed_memory::show(std::shared_ptr<const sealed_memory> memory, std::size_t begin, std::size_t count) {
    const auto* const passable = memory->descriptor() >= 0 ? memory.get() : nullptr;
    const auto shown = memory->bytes().subspan(begin, count);
    return {std::move(memory), shown, passable};
}

std::shared_ptr<const sealed_memory> map_sealed_memory(unique_fd descriptor, std::size_t bytes) {
    const int fd = descriptor.get();
    if (!has_all_seals(fd) || !has_ordinary_pages(fd) || !is_whole(fd, bytes)) {
        return nullptr;
    }
    auto mapping = map_read_only(fd, bytes);
    if (mapping.empty()) {
        throw std::bad_alloc();
    }
    return std::make_shared<const sealed_memory>(std::move(mapping), std::move(descriptor));
}

} // namespace skep
