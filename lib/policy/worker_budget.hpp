// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace skep {

/// The number of workers that several pools may have together. Thread-safe and lock-free.
class worker_budget {
public:
    explicit worker_budget(std::size_t most) noexcept : left_(most) {}

    /// Takes at most `wanted_count` places. Returns the number of places taken.
    std::size_t acquire_up_to(std::size_t wanted_count) noexcept;

    /// Takes `wanted_count` places and returns true, or takes no place and returns false.
    bool acquire_all(std::size_t wanted_count) noexcept;

    void release(std::size_t count) noexcept { left_.fetch_add(count, std::memory_order_relaxed); }

    std::size_t left() const noexcept { return left_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::size_t> left_;
};

/// One pool's part of a budget. The least number of workers is reserved, whether the pool has the workers or
/// not, so that no other pool grows into their places. Default-constructed: unlimited. Returns everything on
/// destruction. Used on the strand of its pool.
class worker_share {
public:
    worker_share() = default;

    /// Reserves nothing yet.
    explicit worker_share(std::shared_ptr<worker_budget> budget) noexcept : budget_(std::move(budget)) {}

    worker_share(worker_share&& other) noexcept;
    worker_share& operator=(worker_share&& other) noexcept;
    ~worker_share() { release(); }

    /// Sets the reservation to `least`. Returns false, and changes nothing, if the budget has too few places
    /// left.
    bool reserve(std::size_t least) noexcept;

    /// Takes places for up to `wanted_count` workers. Returns the number of workers that the pool may have.
    std::size_t grow_to(std::size_t wanted_count) noexcept;

    /// Returns the places beyond both `count`, the pool's number of workers, and the reservation.
    void shrink_to(std::size_t count) noexcept;

    /// Returns all places, including the reservation.
    void release() noexcept;

    /// Returns the most workers that the pool could have at present.
    std::size_t most() const noexcept;

private:
    std::shared_ptr<worker_budget> budget_;
    std::size_t least_ = 0;
    std::size_t held_ = 0;
};

} // namespace skep
