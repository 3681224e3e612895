// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace skep {

/// The verdict on a worker after one more failed call.
enum class streak_verdict {
    none,
    streak,  ///< `limit` calls of the command in a row have failed
    suspect, ///< the worker fails much more often than its siblings at the same commands
    convict  ///< the worker does so again after the suspicion
};

/// Finds a worker that fails its calls though the worker answers pings and probes, regardless of the names of
/// its errors. Failures alone are no verdict, because bad input causes failures too. Either a probe or a
/// comparison tells the worker's fault from the callers': the siblings do much better at the same commands at
/// the same time.
///
/// Convicts a slot once: a fresh worker that does no better shows that the callers are at fault. A long run
/// of successes clears the conviction.
class error_streaks {
public:
    /// `limit`: the number of failures that starts an examination; 0 = never.
    explicit error_streaks(std::size_t limit) noexcept;

    /// A fresh worker occupies the slot.
    void started(std::uint32_t slot);

    void succeeded(std::uint32_t slot, const std::string& command);
    streak_verdict failed(std::uint32_t slot, const std::string& command);

private:
    struct count {
        std::uint64_t calls = 0;
        std::uint64_t failures = 0;
    };
    /// The last calls of one command in a slot, and the calls of all slots before the window.
    struct window {
        count own;
        count total_before;
        std::size_t row = 0; ///< failures since the last success
    };
    struct tally {
        count total;
        std::vector<window> windows; ///< by slot
    };
    enum class mark : std::uint8_t { none, suspected, convicted };
    struct slot_record {
        std::uint64_t failures = 0;  ///< since the last mark
        std::uint64_t successes = 0; ///< since the last mark
        mark marked = mark::none;
    };

    tally& tally_of(const std::string& command);
    static window& window_of(tally& all, std::uint32_t slot);
    slot_record& record_of(std::uint32_t slot);
    window& count_call(tally& all, std::uint32_t slot) const;
    bool does_much_worse(std::uint32_t slot) const noexcept;
    void begin_windows(std::uint32_t slot) noexcept;

    std::size_t limit_;
    std::uint64_t span_;                             ///< calls in a window
    std::unordered_map<std::string, tally> tallies_; ///< by command
    std::vector<slot_record> slots_;
};

} // namespace skep
