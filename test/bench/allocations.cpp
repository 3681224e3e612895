// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Replaces malloc and its kin by functions that count and pass on to those of the GNU C library.

#include "allocations.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <malloc.h>

extern "C" {
void* __libc_malloc(std::size_t size);                      // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t count, std::size_t size);   // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* block, std::size_t size);        // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(std::size_t align, std::size_t size); // NOLINT(bugprone-reserved-identifier)
void __libc_free(void* block);                              // NOLINT(bugprone-reserved-identifier)
}

namespace {

std::atomic<std::uint64_t> total_count = 0;
std::atomic<std::uint64_t> total_bytes = 0;
std::atomic<std::int64_t> live_bytes = 0;

void* taken(void* block, std::size_t size) noexcept {
    if (block != nullptr) {
        total_count.fetch_add(1, std::memory_order_relaxed);
        total_bytes.fetch_add(size, std::memory_order_relaxed);
        live_bytes.fetch_add(static_cast<std::int64_t>(malloc_usable_size(block)), std::memory_order_relaxed);
    }
    return block;
}

void given_back(void* block) noexcept {
    live_bytes.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(block)), std::memory_order_relaxed);
}

} // namespace

extern "C" {

void* malloc(std::size_t size) {
    return taken(__libc_malloc(size), size);
}

void* calloc(std::size_t count, std::size_t size) {
    return taken(__libc_calloc(count, size), count * size);
}

void* realloc(void* block, std::size_t size) {
    given_back(block);
    return taken(__libc_realloc(block, size), size);
}

void* aligned_alloc(std::size_t align, std::size_t size) {
    return taken(__libc_memalign(align, size), size);
}

void* memalign(std::size_t align, std::size_t size) {
    return taken(__libc_memalign(align, size), size);
}

int posix_memalign(void** block, std::size_t align, std::size_t size) {
    *block = taken(__libc_memalign(align, size), size);
    return *block == nullptr ? ENOMEM : 0;
}

void free(void* block) {
    given_back(block);
    __libc_free(block);
}
}

skep::bench::allocation_totals skep::bench::allocations() noexcept {
    return {total_count.load(std::memory_order_relaxed), total_bytes.load(std::memory_order_relaxed),
            live_bytes.load(std::memory_order_relaxed)};
}
