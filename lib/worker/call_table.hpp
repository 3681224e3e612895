// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "worker/call.hpp"

#include <boost/container/flat_map.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace skep {

/// The calls that a worker has been sent and has not answered, in the order sent. It begins them in that order, no more
/// than its capacity at a time, and answers one before it begins the next: those beyond are pipelined.
class call_table {
public:
    struct entry {
        call_ptr sent;
        std::uint64_t begin; ///< where its frame begins in the data stream
    };

    std::size_t load() const noexcept { return entries_.size(); }
    bool empty() const noexcept { return entries_.empty(); }

    std::size_t capacity() const noexcept { return capacity_; }
    void set_capacity(std::size_t capacity) noexcept { capacity_ = capacity; }
    bool is_full() const noexcept { return load() >= capacity_; }

    /// Whether another call can be begun now, of those that no lease makes.
    bool has_place() const noexcept { return load() + unused_ < capacity_; }

    // Leases keep places, which only their own calls take.
    void reserve(std::size_t places) noexcept {
        reserved_ += places;
        unused_ += places;
    }
    /// None of the calls in them is left.
    void release(std::size_t places) noexcept {
        reserved_ -= places;
        unused_ -= places;
    }
    std::size_t reserved() const noexcept { return reserved_; }

    /// Calls that no lease has made.
    std::size_t common_load() const noexcept { return load() - (reserved_ - unused_); }

    /// Makes room, so that add() cannot fail.
    void reserve_one() { entries_.reserve(entries_.size() + 1); }
    std::uint64_t next_id() const noexcept { return next_id_; }

    /// Enters a call under next_id().
    void add(call& sent, std::uint64_t begin) {
        entries_.emplace_hint(entries_.end(), next_id_++, entry{call_ptr(&sent), begin});
        unused_ -= sent.is_leased() ? 1 : 0;
    }

    /// Null if it has no call of that id.
    call* find(std::uint64_t id) const noexcept {
        const auto found = entries_.find(id);
        return found == entries_.end() ? nullptr : found->second.sent.get();
    }

    /// Null if it has no call of that id: it was never given out, or has been answered before.
    call_ptr take(std::uint64_t id) noexcept {
        const auto found = entries_.find(id);
        if (found == entries_.end()) {
            return {};
        }
        auto sent = std::move(found->second.sent);
        entries_.erase(found);
        unused_ += sent->is_leased() ? 1 : 0;
        return sent;
    }

    /// The one that was sent last; there must be one.
    entry take_last() noexcept {
        const auto last = entries_.end() - 1;
        auto sent = std::move(last->second);
        entries_.erase(last);
        unused_ += sent.sent->is_leased() ? 1 : 0;
        return sent;
    }

    /// True if the worker cannot have begun the call yet.
    bool is_pipelined(const call& sent) const noexcept {
        return load() > capacity_ && sent.id >= at(capacity_)->first;
    }

    /// The call that it may have begun as it answered another; null if it has just begun none.
    call* just_begun() const noexcept { return is_full() ? at(capacity_ - 1)->second.sent.get() : nullptr; }

    /// Calls `act` for each, the first sent first, but for no more than `most`.
    template <class Act>
    void for_each(std::size_t most, Act&& act) const {
        std::for_each(entries_.begin(), at(std::min(load(), most)),
                      [&](const auto& each) { act(*each.second.sent); });
    }

    /// True if it can have begun no call whose caller still waits, unless an answer of it is on its way.
    bool is_drained() const noexcept {
        return std::all_of(entries_.begin(), at(std::min(load(), capacity_)), is_given_up);
    }

    /// True if it can have begun one that the pool does not know of.
    bool is_at_private() const noexcept {
        return std::any_of(entries_.begin(), at(std::min(load(), capacity_)),
                           [](const auto& each) { return each.second.sent->is_private; });
    }

    /// True if nobody waits for a call that it has.
    bool is_deserted() const noexcept { return std::all_of(entries_.begin(), entries_.end(), is_given_up); }

private:
    using map = boost::container::flat_map<std::uint64_t, entry>;

    /// Nobody of the pool waits for it.
    static bool is_given_up(const map::value_type& each) noexcept {
        return each.second.sent->state == call_state::abandoned || each.second.sent->is_private;
    }

    map::const_iterator at(std::size_t index) const noexcept {
        return entries_.begin() + static_cast<std::ptrdiff_t>(index);
    }

    map entries_;
    std::uint64_t next_id_ = 1;
    std::size_t capacity_ = 0;
    std::size_t reserved_ = 0; ///< places
    std::size_t unused_ = 0;   ///< of these
};

} // namespace skep
