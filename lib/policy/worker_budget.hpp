// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace skep {

/// The number of workers that several pools may have together. Thread-safe; no lock.
class worker_budget {
public:
    explicit worker_budget(std::size_t most) noexcept : left_(most) {}

    /// Takes at most `wanted_count` places; returns how many it has taken.
    std::size_t acquire_up_to(std::size_t wanted_count) noexcept;

    /// Takes `wanted_count` places, or none and returns false.
    bool acquire_all(std::size_t wanted_count) noexcept;

    void release(std::size_t count) noexcept { left_.fetch_add(count, std::memory_order_relaxed); }

    std::size_t left() const noexcept { return left_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::size_t> left_;
};

/// One pool's part of a budget. The pool's least number of workers is reserved, whether it has them or not, so that no
/// other pool grows into their places. Default-constructed: without a limit. Gives everything back on destruction. On the
/// strand of its pool.
class worker_share {
public:
    worker_share() = default;

    /// Reserves nothing yet.
    explicit worker_share(std::shared_ptr<worker_budget> budget) noexcept : budget_(std::move(budget)) {}

    worker_share(worker_share&& other) noexcept;
    worker_share& operator=(worker_share&& other) noexcept;
    ~worker_share() { release(); }

    /// Makes `least` the number that is reserved. Returns false, and changes nothing, if that many are not left.
    bool reserve(std::size_t least) noexcept;

    /// How many workers, at most `wanted_count`, the pool may have; they are taken.
    std::size_t grow_to(std::size_t wanted_count) noexcept;

    /// The pool has `count` workers now: gives back what it holds beyond that and its reservation.
    void shrink_to(std::size_t count) noexcept;

    /// Gives back all of it, the reservation too.
    void release() noexcept;

    /// The most workers that the pool could have at the moment.
    std::size_t most() const noexcept;

private:
    std::shared_ptr<worker_budget> budget_;
    std::size_t least_ = 0;
    std::size_t held_ = 0;
};

} // namespace skep
