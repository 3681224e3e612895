// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"

#include <cstddef>
#include <span>
#include <utility>

namespace skep {

/// Owns a mapping of memory. Empty by default.
class memory_mapping {
public:
    memory_mapping() = default;
    explicit memory_mapping(std::span<std::byte> bytes) noexcept : bytes_(bytes) {}
    memory_mapping(memory_mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    memory_mapping& operator=(memory_mapping&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~memory_mapping();

    bool empty() const noexcept { return bytes_.empty(); }
    std::span<std::byte> bytes() const noexcept { return bytes_; }

private:
    std::span<std::byte> bytes_;
};

/// Makes memory without a name: a memfd of this size, ready to be sealed. Returns a closed descriptor
/// without memory or without a free descriptor.
unique_fd make_memory(const char* name, std::size_t bytes) noexcept;

/// Maps the first bytes of a descriptor. `protection` and `kind` are arguments of mmap. Returns an empty
/// mapping if that is impossible.
memory_mapping map_memory(int descriptor, std::size_t bytes, int protection, int kind) noexcept;

/// Memory without a name, a memfd whose size is fixed, and the descriptor by which other processes map it.
/// Pages are provided by the functions below, or on first access.
struct nameless_memory {
    memory_mapping memory; ///< empty after a failure
    unique_fd descriptor;
};

/// Makes memory that only the returned mapping can change.
nameless_memory make_lent_memory(std::size_t bytes) noexcept;

/// Makes memory that other processes write. The returned mapping is read-only. Seals can be added.
nameless_memory make_result_memory(std::size_t bytes) noexcept;

/// Provides the pages of mapped bytes. Returns false without memory for them: an access could then raise
/// SIGBUS. Needs Linux 5.14.
bool provide_pages(std::span<std::byte> bytes) noexcept;

/// Provides the pages of bytes that are mapped read-only, and that another process may not have written.
/// Returns the same.
bool provide_readable_pages(std::span<const std::byte> bytes) noexcept;

/// Maps the first bytes of a received descriptor read-only. Returns an empty mapping for anything but memory
/// of this size or more whose size is fixed.
memory_mapping map_received_memory(int descriptor, std::size_t bytes) noexcept;

/// Maps the first bytes of a received descriptor to be read and written. Returns the same.
memory_mapping map_result_memory(int descriptor, std::size_t bytes) noexcept;

/// Mapped memory that this process writes place by place. Places are reserved from the beginning on, so the
/// bytes with pages are the first ones.
class written_memory {
public:
    explicit written_memory(memory_mapping memory) noexcept : memory_(std::move(memory)) {}

    /// Returns the bytes of a place, to be written. Returns an empty span without memory for them.
    std::span<std::byte> open(std::size_t begin, std::size_t bytes) noexcept;

    /// Returns the number of bytes with pages.
    std::size_t provided() const noexcept { return provided_; }

private:
    memory_mapping memory_;
    std::size_t provided_ = 0;
};

/// The pages of mapped memory that another process writes and this one reads. Pages have to be provided for
/// each access, because the other process may remove them.
class result_pages {
public:
    /// Seals the memory: its pages can no longer be removed, and no further mapping can write. Precondition:
    /// the other process has mapped the memory. No effect if the other process has sealed the seals.
    void keep(int descriptor) noexcept;

    /// Provides the pages of the bytes that begin there in the memory. Returns false without memory for them.
    bool provide(std::size_t begin, std::span<const std::byte> bytes) noexcept;

private:
    bool are_kept_ = false;
    std::size_t provided_ = 0; ///< so many first bytes have pages that stay
};

} // namespace skep
