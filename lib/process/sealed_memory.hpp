// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"
#include "process/shared_memory.hpp"
#include <skep/blob.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace skep {

/// Memory that one process fills and seals, and that others map afterwards: the mapping of this process, and
/// the descriptor that passes the memory on.
class sealed_memory {
public:
    /// Makes memory to be filled, with its pages provided. Throws std::bad_alloc.
    explicit sealed_memory(std::size_t bytes);

    /// Takes over sealed memory that map_sealed_memory() has mapped.
    sealed_memory(memory_mapping mapping, unique_fd descriptor) noexcept
        : mapping_(std::move(mapping)), descriptor_(std::move(descriptor)) {}

    /// Returns the memory to be filled, until seal().
    std::span<std::byte> room() const noexcept { return mapping_.bytes(); }

    /// Seals the memory. If the kernel cannot do that, because the pages are in other use, the memory keeps
    /// its bytes, and is never passed on.
    void seal() noexcept;

    std::span<const std::byte> bytes() const noexcept { return mapping_.bytes(); }
    int descriptor() const noexcept { return descriptor_.get(); }

    /// Returns a blob of `count` bytes from `begin` on, which keeps the memory alive. Preconditions: the
    /// memory has these bytes, and seal() was called or the memory came sealed.
    static blob show(std::shared_ptr<const sealed_memory> memory, std::size_t begin, std::size_t count);

    /// Returns the memory that the blob lies in; null unless the blob is shared.
    static const sealed_memory* behind(const blob& bytes) noexcept { return bytes.memory_; }

private:
    bool show_read_only() noexcept;

    memory_mapping mapping_;
    unique_fd descriptor_; ///< closed: the memory could not be sealed
};

/// Maps the first bytes of received memory. Returns null for anything but memory of this size or more that is
/// sealed and has all its pages. Throws std::bad_alloc if this process cannot map the memory.
///
/// Pages past the end of the file are counted as well, so a sender can hide holes behind them. Reading a hole
/// provides a page, as for a result that is copied: at most `bytes`.
std::shared_ptr<const sealed_memory> map_sealed_memory(unique_fd descriptor, std::size_t bytes);

} // namespace skep
