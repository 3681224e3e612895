// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

namespace skep {

/// The expected run time of a call, as far as it decides how many calls may lie behind the call.
enum class pace : std::uint8_t {
    slow,  ///< a millisecond or more, or unknown
    brisk, ///< less than a millisecond
    fast   ///< less than 50 us
};

/// Returns the number of calls that may be sent ahead to a worker that is at calls of this pace.
constexpr std::size_t most_ahead(pace slowest) noexcept {
    return slowest == pace::fast ? 4 : slowest == pace::brisk ? 1 : 0;
}

/// Learns the pace of commands from the run times of their calls.
///
/// A run time counts from the moment at which the worker could begin the call: from the sending, or from the
/// answer before. With an idle worker, the run time contains the round trip of 30 to 60 us: an echo in Python
/// is `brisk`. The echo becomes `fast` once calls are sent ahead, and the round trip no longer counts.
class pipelining {
public:
    /// A call that lies behind another, or a batch, for longer is recalled.
    static constexpr duration patience = std::chrono::milliseconds(1);
    static constexpr duration patience_for_batches = std::chrono::milliseconds(5);

    static constexpr duration patience_with(std::size_t batch_size) noexcept {
        return batch_size > 1 ? patience_for_batches : patience;
    }

    /// A call of `command` was answered with a result.
    void record(const std::string& command, duration run_time);

    pace pace_of(const std::string& command) noexcept;

private:
    using entry = std::pair<const std::string, duration>;

    /// Returns the entry of a known command, or null.
    entry* find(const std::string& command) noexcept;

    std::unordered_map<std::string, duration> run_times_; ///< decaying means, by command
    entry* last_ = nullptr;                               ///< found last: calls often follow their like
};

} // namespace skep
