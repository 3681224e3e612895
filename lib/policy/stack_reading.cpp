// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/stack_reading.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace skep {

namespace {

bool is_head_of_thread(std::string_view line) noexcept {
    return line.starts_with("Thread 0x") || line.starts_with("Current thread 0x");
}

/// Returns true for a frame, for a remark in the place of frames, and for the line between two threads.
bool is_below_head(std::string_view line) noexcept {
    return line.empty() || line == "..." || line.starts_with("  File \"") || line.starts_with("  ...") ||
           line.starts_with("  <");
}

} // namespace

bool stack_reading::take(std::string_view line, time_point now) {
    const bool belongs = is_head_of_thread(line) || (!text_.empty() && is_below_head(line));
    if (!belongs || now >= end_) {
        return false;
    }
    due_ = std::min(now + longest_pause, end_);
    const auto clean = to_utf8(line); // may be longer
    if (text_.size() + clean.size() < most_bytes) {
        text_.append(clean).push_back('\n');
    }
    return true;
}

} // namespace skep
