// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call.hpp"

#include <boost/circular_buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace skep {

/// The calls that a worker has been sent and has not answered, in the order sent. It begins them in that order, no more
/// than its capacity at a time, and answers one before it begins the next: those beyond are pipelined.
class call_table {
public:
    struct entry {
        std::uint64_t id;
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

    std::uint64_t next_id() const noexcept { return next_id_; }

    /// Makes room for one more, so that add() takes no memory.
    void make_room() {
        constexpr std::size_t least = 16;
        if (entries_.full()) {
            entries_.set_capacity(std::max(least, 2 * entries_.size()));
        }
    }

    /// Enters a call under next_id().
    void add(call& sent_call, std::uint64_t begin) {
        make_room();
        entries_.push_back({next_id_++, call_ptr(&sent_call), begin});
        unused_ -= sent_call.is_leased() ? 1 : 0;
    }

    /// The call that was sent first; null if there is none.
    call* oldest() const noexcept { return entries_.empty() ? nullptr : entries_.front().sent.get(); }

    /// Null if it has no call of that id.
    call* find(std::uint64_t id) const noexcept {
        const auto found = search(id);
        return found == entries_.end() ? nullptr : found->sent.get();
    }

    /// Null if it has no call of that id: it was never given out, or has been answered before.
    call_ptr take(std::uint64_t id) noexcept {
        const auto found = search(id);
        if (found == entries_.end()) {
            return {};
        }
        const auto place = entries_.begin() + (found - entries_.begin());
        auto sent = std::move(place->sent);
        // It is one of the oldest, mostly: those after it stay where they are.
        const bool is_old = place - entries_.begin() < entries_.end() - place;
        if (is_old) {
            entries_.rerase(place);
        } else {
            entries_.erase(place);
        }
        unused_ += sent->is_leased() ? 1 : 0;
        return sent;
    }

    /// The one that was sent last; there must be one.
    entry take_last() noexcept {
        auto last = std::move(entries_.back());
        entries_.pop_back();
        unused_ += last.sent->is_leased() ? 1 : 0;
        return last;
    }

    /// True if the worker cannot have begun the call yet.
    bool is_pipelined(const call& sent_call) const noexcept {
        return load() > capacity_ && sent_call.id >= at(capacity_)->id;
    }

    /// The call that it may have begun as it answered another; null if it has just begun none.
    call* just_begun() const noexcept { return is_full() ? at(capacity_ - 1)->sent.get() : nullptr; }

    /// Calls `act` for each, the first sent first, but for no more than `most`.
    template <class Act>
    void for_each(std::size_t most, Act&& act) const {
        std::for_each(entries_.begin(), at(std::min(load(), most)),
                      [&](const auto& each) { act(*each.sent); });
    }

    /// True if it can have begun no call whose caller still waits, unless an answer of it is on its way.
    bool is_drained() const noexcept {
        return std::all_of(entries_.begin(), at(std::min(load(), capacity_)), is_given_up);
    }

    /// True if it can have begun one that the pool does not know of.
    bool is_at_private() const noexcept {
        return std::any_of(entries_.begin(), at(std::min(load(), capacity_)),
                           [](const auto& each) { return each.sent->is_private; });
    }

    /// True if nobody waits for a call that it has.
    bool is_deserted() const noexcept { return std::all_of(entries_.begin(), entries_.end(), is_given_up); }

private:
    using const_iterator = boost::circular_buffer<entry>::const_iterator;

    /// Nobody of the pool waits for it.
    static bool is_given_up(const entry& each) noexcept {
        return each.sent->state == call_state::abandoned || each.sent->is_private;
    }

    /// The end if it has no call of that id.
    const_iterator search(std::uint64_t id) const noexcept {
        const auto found =
            std::lower_bound(entries_.begin(), entries_.end(), id,
                             [](const entry& each, std::uint64_t wanted_id) { return each.id < wanted_id; });
        return found != entries_.end() && found->id == id ? found : entries_.end();
    }

    const_iterator at(std::size_t index) const noexcept {
        return entries_.begin() + static_cast<std::ptrdiff_t>(index);
    }

    boost::circular_buffer<entry> entries_; ///< ids rise
    std::uint64_t next_id_ = 1;
    std::size_t capacity_ = 0;
    std::size_t reserved_ = 0; ///< places
    std::size_t unused_ = 0;   ///< of these
};

} // namespace skep
