// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace skep {

/// The verdict on a worker after one more of its calls has failed.
enum class streak_verdict {
    none,
    streak,  ///< so many of its calls of the command in a row have failed
    suspect, ///< it fails much more often than its siblings at the same commands
    convict  ///< it does so once more, after it was suspected
};

/// Finds the worker that fails its calls though it answers pings and probes, whatever its errors are called. Failures
/// alone are no verdict, for bad input makes them as well: what tells the worker from its callers is a probe, or that its
/// siblings do much better at the same commands at the same time.
///
/// Of workers of one slot, one after the other, it convicts once: a fresh one that does no better shows that it is the
/// callers. One that does better for long makes up for that.
class error_streaks {
public:
    /// So many failures are looked into; 0 = none ever is.
    explicit error_streaks(std::size_t limit) noexcept;

    /// A fresh worker is in the slot.
    void started(std::uint32_t slot);

    void succeeded(std::uint32_t slot, const std::string& command);
    streak_verdict failed(std::uint32_t slot, const std::string& command);

private:
    struct count {
        std::uint64_t calls = 0;
        std::uint64_t failures = 0;
    };
    /// The last calls of one command in a slot, and the calls of all slots before them.
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
        std::uint64_t failures = 0;  ///< since it was marked
        std::uint64_t successes = 0; ///< since it was marked
        mark marked = mark::none;
    };

    tally& tally_of(const std::string& command);
    static window& window_of(tally& all, std::uint32_t slot);
    slot_record& record_of(std::uint32_t slot);
    window& count_call(tally& all, std::uint32_t slot) const;
    bool does_much_worse(std::uint32_t slot) const noexcept;
    void begin_windows(std::uint32_t slot) noexcept;

    std::size_t limit_;
    std::uint64_t span_;                             ///< calls of a window
    std::unordered_map<std::string, tally> tallies_; ///< by command
    std::vector<slot_record> slots_;
};

} // namespace skep
