// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/faults.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

namespace skep::simulation {

namespace {

// One process simulates one world, on one thread.
std::uint64_t left = 0; ///< until one fails; 0: none does
int sparing = 0;
int spared_next = 0;
bool did_fail = false;
bool learning = false;
std::array<std::size_t, 8> spared_sizes{};

} // namespace

void allocation_faults::arm(std::uint64_t nth) noexcept {
    left = nth;
    did_fail = false;
    spared_next = 0;
}

bool allocation_faults::disarm() noexcept {
    left = 0;
    return did_fail;
}

bool allocation_faults::has_failed() noexcept {
    return did_fail;
}

void allocation_faults::spare_next(int count) noexcept {
    spared_next = count;
}

void allocation_faults::learn(bool learns) noexcept {
    learning = learns;
}

spared_by_faults::spared_by_faults() noexcept {
    ++sparing;
}

spared_by_faults::~spared_by_faults() {
    --sparing;
}

namespace {

bool is_spared(std::size_t size) noexcept {
    return std::find(spared_sizes.begin(), spared_sizes.end(), size) != spared_sizes.end();
}

bool fails_now(std::size_t size) noexcept {
    if (learning && !is_spared(size)) {
        *std::find(spared_sizes.begin(), spared_sizes.end() - 1, 0u) = size;
    }
    if (left == 0 || sparing > 0 || is_spared(size)) {
        return false;
    }
    if (spared_next > 0) {
        --spared_next;
        return false;
    }
    if (--left > 0) {
        return false;
    }
    did_fail = true;
    return true;
}

} // namespace

} // namespace skep::simulation

void* operator new(std::size_t size) {
    void* const block = skep::simulation::fails_now(size) ? nullptr : std::malloc(size == 0 ? 1 : size);
    if (block == nullptr) {
        throw std::bad_alloc();
    }
    return block;
}

void operator delete(void* block) noexcept {
    std::free(block);
}

void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}
