// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call.hpp"

#include <boost/circular_buffer.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace skep {

/// The calls sent to a worker and not yet answered, in the order sent. The worker begins the calls in that
/// order, runs at most capacity() at a time, and answers a call before it begins the next. Calls beyond the
/// capacity are pipelined, and may be recalled: the worker gives a recalled call back, or has begun the call.
class call_table {
public:
    struct entry {
        std::uint64_t id;
        call_ptr sent;
        std::uint64_t begin; ///< position of the call's frame in the data stream
    };

    std::size_t load() const noexcept { return entries_.size(); }
    bool empty() const noexcept { return entries_.empty(); }

    std::size_t capacity() const noexcept { return capacity_; }
    void set_capacity(std::size_t capacity) noexcept { capacity_ = capacity; }
    bool is_full() const noexcept { return load() >= capacity_; }

    /// Returns true if another call outside of leases can begin now.
    bool has_place() const noexcept { return load() + unused_ < capacity_; }

    // Leases keep places, for their own calls only.
    void reserve(std::size_t places) noexcept {
        reserved_ += places;
        unused_ += places;
    }
    /// Precondition: no call occupies the places.
    void release(std::size_t places) noexcept {
        reserved_ -= places;
        unused_ -= places;
    }
    std::size_t reserved() const noexcept { return reserved_; }

    /// Returns the number of calls outside of leases.
    std::size_t common_load() const noexcept { return load() - (reserved_ - unused_); }

    std::uint64_t next_id() const noexcept { return next_id_; }

    /// Makes room for one more call, so that add() does not allocate.
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
        ++paces_[sent_call.expected_pace];
        unused_ -= sent_call.is_leased() ? 1 : 0;
    }

    /// Returns the call sent first, or null if the table is empty.
    call* oldest() const noexcept { return entries_.empty() ? nullptr : entries_.front().sent.get(); }

    /// Returns null if the table has no call with that id.
    call* find(std::uint64_t id) const noexcept {
        const auto found = search(id);
        return found == entries_.end() ? nullptr : found->sent.get();
    }

    /// Returns null if the table has no call with that id: the id was never used, or the call was answered
    /// before.
    call_ptr take(std::uint64_t id) noexcept {
        const auto found = search(id);
        if (found == entries_.end()) {
            return {};
        }
        const auto place = entries_.begin() + (found - entries_.begin());
        auto sent = std::move(place->sent);
        // The call is usually one of the oldest: the calls behind stay in place.
        const bool is_old = place - entries_.begin() < entries_.end() - place;
        if (is_old) {
            entries_.rerase(place);
        } else {
            entries_.erase(place);
        }
        forget(*sent);
        return sent;
    }

    /// Removes the call sent last. Precondition: the table is not empty.
    entry take_last() noexcept {
        auto last = std::move(entries_.back());
        entries_.pop_back();
        forget(*last.sent);
        return last;
    }

    /// Returns the number of calls, from the first on, that the worker can have begun. The worker may have
    /// skipped a recalled call, which then takes no place.
    std::size_t begun() const noexcept {
        if (recalled_ == 0) {
            return std::min(load(), capacity_);
        }
        std::size_t count = 0;
        for (auto places = capacity_; places > 0 && count < load(); ++count) {
            places -= at(count)->sent->is_recalled ? 0 : 1;
        }
        return count;
    }

    /// Returns true if the worker cannot have begun the call yet.
    bool is_pipelined(const call& sent_call) const noexcept {
        const auto first = begun();
        return first < load() && sent_call.id >= at(first)->id;
    }

    /// Calls `act` for the calls that the worker may have begun after its last answer, and perhaps for calls
    /// begun before.
    template <class Act>
    void for_each_just_begun(Act&& act) const {
        const auto end = begun();
        const auto first = recalled_ > 0 ? 0 : end - (is_full() ? 1 : 0);
        std::for_each(at(first), at(end), [&](const auto& each) { act(*each.sent); });
    }

    /// Returns the call that the worker can have begun last. Precondition: the table is not empty.
    const call& last_begun() const noexcept { return *at(begun() - 1)->sent; }

    /// Calls `act` for the calls that the worker cannot have begun, last sent first. `act` may recall its
    /// call.
    template <class Act>
    void for_each_pipelined(Act&& act) {
        const auto first = begun();
        for (auto index = load(); index > first; --index) {
            act(*at(index - 1)->sent);
        }
    }

    void recall(call& pipelined_call) noexcept {
        pipelined_call.is_recalled = true;
        ++recalled_;
    }
    bool is_any_recalled() const noexcept { return recalled_ > 0; }

    /// Returns the slowest pace among the calls.
    pace slowest() const noexcept {
        return paces_[pace::slow] > 0 ? pace::slow : paces_[pace::brisk] > 0 ? pace::brisk : pace::fast;
    }

    /// The calls that the worker can have begun take longer than expected.
    void slow_down() noexcept {
        std::for_each(at(0), at(begun()), [this](const auto& each) {
            --paces_[std::exchange(each.sent->expected_pace, pace::slow)];
            ++paces_[pace::slow];
        });
    }

    /// Calls `act` for at most `most` calls, in the order sent.
    template <class Act>
    void for_each(std::size_t most, Act&& act) const {
        std::for_each(entries_.begin(), at(std::min(load(), most)),
                      [&](const auto& each) { act(*each.sent); });
    }

    /// Returns true if no caller waits for a call that the worker can have begun, unless an answer is in
    /// flight.
    bool is_drained() const noexcept { return std::all_of(entries_.begin(), at(begun()), is_given_up); }

    /// Returns true if the worker can have begun a private call, unknown to the pool.
    bool is_at_private() const noexcept {
        return std::any_of(entries_.begin(), at(begun()),
                           [](const auto& each) { return each.sent->is_private; });
    }

    /// Returns true if no caller waits for any of the calls.
    bool is_deserted() const noexcept { return std::all_of(entries_.begin(), entries_.end(), is_given_up); }

private:
    using const_iterator = boost::circular_buffer<entry>::const_iterator;

    struct counts_by_pace {
        std::size_t& operator[](pace index) noexcept { return counts[static_cast<std::size_t>(index)]; }
        std::size_t operator[](pace index) const noexcept { return counts[static_cast<std::size_t>(index)]; }

        std::array<std::size_t, 3> counts{};
    };

    void forget(const call& removed_call) noexcept {
        --paces_[removed_call.expected_pace];
        unused_ += removed_call.is_leased() ? 1 : 0;
        recalled_ -= removed_call.is_recalled ? 1 : 0;
    }

    /// Returns true if the call is private or its caller has abandoned the call.
    static bool is_given_up(const entry& each) noexcept {
        return each.sent->state == call_state::abandoned || each.sent->is_private;
    }

    /// Returns the end if the table has no call with that id.
    const_iterator search(std::uint64_t id) const noexcept {
        const auto found =
            std::lower_bound(entries_.begin(), entries_.end(), id,
                             [](const entry& each, std::uint64_t wanted_id) { return each.id < wanted_id; });
        return found != entries_.end() && found->id == id ? found : entries_.end();
    }

    const_iterator at(std::size_t index) const noexcept {
        return entries_.begin() + static_cast<std::ptrdiff_t>(index);
    }

    boost::circular_buffer<entry> entries_; ///< ascending ids
    std::uint64_t next_id_ = 1;
    std::size_t capacity_ = 0;
    std::size_t reserved_ = 0; ///< places
    std::size_t unused_ = 0;   ///< reserved places without a call
    std::size_t recalled_ = 0; ///< calls
    counts_by_pace paces_;     ///< calls
};

} // namespace skep
