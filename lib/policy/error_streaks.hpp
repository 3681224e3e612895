// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/container/flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace skep {

/// Finds the worker that fails every call of a command in the same way, though it answers pings and probes. A streak
/// alone is no verdict, for bad input makes one as well: what tells the worker from its callers is a probe, or that
/// its siblings answer as many calls of the command meanwhile and none of them fails in that way.
class error_streaks {
public:
    /// `limit` failures in a row; 0 = there are no streaks.
    explicit error_streaks(std::size_t limit) noexcept : limit_(limit) {}

    /// A fresh worker is in the slot.
    void started(std::uint32_t slot);

    void succeeded(std::uint32_t slot, const std::string& command);

    /// One more failure of that kind. True if it completes a streak: the limit is reached, or reached again.
    bool failed(std::uint32_t slot, const std::string& command, const std::string& kind);

    /// Whether the streak speaks against the worker alone; where a sibling has failed so too, the comparison begins
    /// anew. Of workers of one slot, one after the other, it does so once for a kind of failure: a fresh one that does
    /// no better shows that it is the callers. One that does better for long makes up for that.
    bool convicts(std::uint32_t slot, const std::string& command);

private:
    struct tally {
        std::uint64_t successes = 0;
        boost::container::flat_map<std::string, std::uint64_t> failures; ///< by kind
    };
    struct streak {
        std::string kind;
        std::size_t length = 0;
        std::uint64_t successes_before = 0;
        std::uint64_t failures_before = 0;
    };
    struct slot_record {
        boost::container::flat_map<std::string, streak> streaks; ///< by command
        std::string convicted_of;
        std::uint64_t answers_since = 0;
    };

    tally& tally_of(const std::string& command);
    slot_record& record_of(std::uint32_t slot);

    std::size_t limit_;
    std::unordered_map<std::string, tally> tallies_; ///< of all workers, by command
    std::vector<slot_record> slots_;
};

} // namespace skep
