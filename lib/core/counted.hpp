// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>

namespace skep {

/// Increments a count for its lifetime.
class counted {
public:
    explicit counted(std::size_t& count) noexcept : count_(count) { ++count_; }
    ~counted() { --count_; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;

private:
    std::size_t& count_;
};

} // namespace skep
