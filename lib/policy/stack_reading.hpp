// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <string>
#include <string_view>

namespace skep {

/// Collects the stacks that a worker prints on request from the lines of its standard error. The stacks have
/// no mark at their end: they are complete when the worker is silent for a moment. A worker that is never
/// silent is cut off.
class stack_reading {
public:
    explicit stack_reading(time_point requested_at) noexcept
        : end_(requested_at + 2 * limit), due_(requested_at + limit) {}

    /// Takes a line of standard error. Returns false if the line does not belong to the stacks.
    bool take(std::string_view line, time_point now);

    /// Returns the time at which the reading ends unless a line comes first.
    time_point due() const noexcept { return due_; }

    /// Returns the lines so far, in UTF-8; empty without stacks.
    const std::string& text() const noexcept { return text_; }

    static constexpr duration limit =
        std::chrono::seconds(2); ///< until the first line, and then for all lines
    static constexpr duration longest_pause = std::chrono::milliseconds(100); ///< between two lines
    static constexpr std::size_t most_bytes = 1u << 20;                       ///< further lines are left out

private:
    time_point end_;
    time_point due_;
    std::string text_;
};

} // namespace skep
