// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/events.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace skep {

/// A fault that an event reports. Faults are of the same kind if all members are equal.
struct fault {
    std::string event; ///< name of the event
    std::string pool;
    std::string command; ///< of the calls concerned; several are separated by ", "
    std::string cause;

    friend auto operator<=>(const fault&, const fault&) = default;
};

/// Returns the fault that an event reports; std::nullopt if the event reports no fault, or a consequence of a
/// fault with an event of its own.
std::optional<fault> fault_in(const event& subject);

/// Counts faults by kind, and keeps the kinds that occurred last, each with its last occurrences. So a fault
/// that occurs all the time displaces no other.
class fault_list {
public:
    /// Occurrences kept of each kind.
    static constexpr std::size_t most_occurrences = 10;

    /// `limit`: most kinds.
    explicit fault_list(std::size_t limit) : limit_(limit) {}

    /// Adds an occurrence: the event as JSON, with "at_ms" and "serial".
    void add(fault kind, boost::json::object occurrence);

    /// Returns all kinds, in the order of their last occurrence: {"id", "event", "pool", "command", "cause",
    /// "count", "first_at_ms", "last_at_ms", "last": [occurrence, ...]}. The id is the serial of the first
    /// occurrence. Only the newest occurrence has its "output_tail".
    boost::json::array all() const { return changed_since(0); }

    /// Returns the kinds that have occurred since the previous call.
    boost::json::array take_changed();

private:
    struct record {
        std::uint64_t id = 0;
        std::uint64_t count = 0;
        std::int64_t first_at_ms = 0;
        std::uint64_t changed_at = 0; ///< number of the last occurrence, of all faults
        std::deque<boost::json::object> last;
    };
    using records = std::map<fault, record>;

    record& record_of(fault kind);
    void drop_oldest();
    boost::json::array changed_since(std::uint64_t occurrence) const;
    static boost::json::object shown(const fault& kind, const record& facts);

    const std::size_t limit_;
    records records_;
    std::uint64_t occurrences_ = 0;
    std::uint64_t taken_ = 0; ///< occurrences up to the last take_changed()
};

} // namespace skep
