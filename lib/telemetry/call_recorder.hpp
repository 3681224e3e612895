// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>
#include <skep/pool_metrics.hpp>

#include <optional>
#include <string>
#include <unordered_map>

namespace skep {

/// How long a call took.
struct time_spent {
    duration queue_time{};
    std::optional<duration> run_time; ///< if it was sent
    duration total_time{};
};

/// Keeps the figures of a pool's calls, in memory that is bounded: of the first commands that a worker knew each its own,
/// of all others together.
class call_recorder {
public:
    explicit call_recorder(const metrics_options& options) noexcept : options_(options) {}

    /// A call is over; `code` is what it failed with, if it did.
    void record(const std::string& command, const time_spent& times,
                const std::optional<errc>& code) noexcept;

    /// Adds what it knows.
    void report(pool_metrics& metrics) const;

private:
    call_metrics& of(const std::string& command, bool was_known) noexcept;

    const metrics_options options_;
    std::unordered_map<std::string, call_metrics> commands_;
    call_metrics others_;
};

} // namespace skep
