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

/// The calls sent to a worker and not yet answered, in the order sent. A call, or the calls of a batch
/// together, takes one place: the worker begins places in the order sent, runs at most capacity() at a time,
/// and answers all calls of a place before it begins the next. Calls beyond the capacity are pipelined, and
/// may be recalled: the worker gives a recalled call back, or has begun the call.
class call_table {
public:
    struct entry {
        std::uint64_t id;
        call_ptr sent;
        std::uint64_t begin; ///< position of the call's frame in the data stream
    };

    /// Returns the number of places taken.
    std::size_t load() const noexcept { return taken_; }

    /// Returns the number of calls.
    std::size_t size() const noexcept { return entries_.size(); }
    bool empty() const noexcept { return entries_.empty(); }

    std::size_t capacity() const noexcept { return capacity_; }
    void set_capacity(std::size_t capacity) noexcept { capacity_ = capacity; }
    bool is_full() const noexcept { return load() >= capacity_; }

    /// Returns true if another call or batch outside of leases can begin now.
    bool has_place() const noexcept { return load() + unused_ < capacity_; }

    // Leases keep places, for their own calls only.
    void reserve(std::size_t places) noexcept {
        reserved_ += places;
        unused_ += places;
    }
    /// Precondition: no call takes the places.
    void release(std::size_t places) noexcept {
        reserved_ -= places;
        unused_ -= places;
    }
    std::size_t reserved() const noexcept { return reserved_; }

    /// Returns the number of places taken outside of leases.
    std::size_t common_load() const noexcept { return load() - (reserved_ - unused_); }

    std::uint64_t next_id() const noexcept { return next_id_; }

    /// Makes room for so many more calls, so that add() does not allocate.
    void make_room(std::size_t more = 1) {
        constexpr std::size_t least = 16;
        if (entries_.reserve() < more) {
            entries_.set_capacity(std::max({least, 2 * entries_.size(), entries_.size() + more}));
        }
    }

    /// Enters a call under next_id(). `is_beside_last`: in the batch, and the place, of the call added last.
    void add(call& sent_call, std::uint64_t begin, bool is_beside_last = false) {
        make_room();
        sent_call.place_id = is_beside_last ? entries_.back().sent->place_id : next_id_;
        entries_.push_back({next_id_++, call_ptr(&sent_call), begin});
        ++paces_[sent_call.expected_pace];
        if (!is_beside_last) {
            ++taken_;
            unused_ -= sent_call.is_leased() ? 1 : 0;
        }
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
        const bool frees_place = is_alone_in_place(found);
        auto sent = std::move(place->sent);
        // The call is usually one of the oldest: the calls behind stay in place.
        const bool is_old = place - entries_.begin() < entries_.end() - place;
        if (is_old) {
            entries_.rerase(place);
        } else {
            entries_.erase(place);
        }
        forget(*sent, frees_place);
        return sent;
    }

    /// Removes the call sent last. Precondition: the table is not empty.
    entry take_last() noexcept {
        const bool frees_place = is_alone_in_place(entries_.end() - 1);
        auto last = std::move(entries_.back());
        entries_.pop_back();
        forget(*last.sent, frees_place);
        return last;
    }

    /// Returns the number of calls, from the first on, that the worker can have begun. The worker may have
    /// skipped a recalled call, which then takes no place. O(1) without recalled calls and pipelined batches.
    std::size_t begun() const noexcept {
        if (load() <= capacity_) {
            return size();
        }
        if (recalled_ == 0 && !has_batch()) {
            return capacity_;
        }
        std::size_t count = 0;
        for (auto places = capacity_; places > 0 && count < size();) {
            places -= at(count)->sent->is_recalled ? 0 : 1;
            count = end_of_place(count);
        }
        return count;
    }

    /// Returns true if the first calls, so many, share a place.
    bool is_one_place(std::size_t calls) const noexcept {
        return calls > 0 && at(0)->sent->place_id == at(calls - 1)->sent->place_id;
    }

    /// Returns true if the worker cannot have begun the call yet.
    bool is_pipelined(const call& sent_call) const noexcept {
        const auto first = begun();
        return first < size() && sent_call.id >= at(first)->id;
    }

    /// The worker has answered a call, and may have begun others.
    void begin_next(time_point now) noexcept {
        if (recalled_ > 0 || (is_full() && last_begun().begun > now)) {
            for_each_just_begun([now](call& each) { each.begun = std::min(each.begun, now); });
        }
    }

    /// Calls `act` for the calls that the worker may have begun after its last answer, and perhaps for calls
    /// begun before.
    template <class Act>
    void for_each_just_begun(Act&& act) const {
        if (recalled_ > 0) {
            for_each(begun(), act);
        } else if (is_full()) {
            for_each_in_place(last_begun(), act);
        }
    }

    /// Returns the call that the worker can have begun last. Precondition: the table is not empty.
    const call& last_begun() const noexcept { return *at(begun() - 1)->sent; }

    /// Calls `act` for the calls that the worker cannot have begun, last sent first. `act` may recall its
    /// call.
    template <class Act>
    void for_each_pipelined(Act&& act) {
        const auto first = begun();
        for (auto index = size(); index > first; --index) {
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
        std::for_each(entries_.begin(), at(std::min(size(), most)),
                      [&](const auto& each) { act(*each.sent); });
    }

    /// Calls `act` for the calls in the place of `sent_call`, a call of the table.
    template <class Act>
    void for_each_in_place(const call& sent_call, Act&& act) const {
        for (auto each = search(sent_call.place_id, true); is_in_place(each, sent_call.place_id); ++each) {
            act(*each->sent);
        }
    }

    /// Returns true if no caller waits for any call in the place of `sent_call`, a call of the table.
    bool is_place_deserted(const call& sent_call) const noexcept {
        auto each = search(sent_call.place_id, true);
        while (is_in_place(each, sent_call.place_id) && is_given_up(*each->sent)) {
            ++each;
        }
        return !is_in_place(each, sent_call.place_id);
    }

    /// Returns true if a call of the table is in the place of `other_call`.
    bool has_in_place(const call& other_call) const noexcept {
        return is_in_place(search(other_call.place_id, true), other_call.place_id);
    }

    /// Returns true if no caller waits for a call that the worker can have begun, unless an answer is in
    /// flight.
    bool is_drained() const noexcept {
        return std::all_of(entries_.begin(), at(begun()),
                           [](const entry& each) { return is_given_up(*each.sent); });
    }

    /// Returns true if the worker can have begun a private call, unknown to the pool.
    bool is_at_private() const noexcept {
        return std::any_of(entries_.begin(), at(begun()),
                           [](const auto& each) { return each.sent->is_private; });
    }

    /// Returns true if no caller waits for any of the calls.
    bool is_deserted() const noexcept {
        return std::all_of(entries_.begin(), entries_.end(),
                           [](const entry& each) { return is_given_up(*each.sent); });
    }

private:
    using const_iterator = boost::circular_buffer<entry>::const_iterator;

    struct counts_by_pace {
        std::size_t& operator[](pace index) noexcept { return counts[static_cast<std::size_t>(index)]; }
        std::size_t operator[](pace index) const noexcept { return counts[static_cast<std::size_t>(index)]; }

        std::array<std::size_t, 3> counts{};
    };

    void forget(const call& removed_call, bool frees_place) noexcept {
        --paces_[removed_call.expected_pace];
        recalled_ -= removed_call.is_recalled ? 1 : 0;
        taken_ -= frees_place ? 1 : 0;
        unused_ += frees_place && removed_call.is_leased() ? 1 : 0;
    }

    /// Returns true if the call is private or its caller has abandoned the call.
    static bool is_given_up(const call& each) noexcept {
        return each.state == call_state::abandoned || each.is_private;
    }

    /// Returns the end if the table has no call with that id, or with `or_next` no later call either.
    const_iterator search(std::uint64_t id, bool or_next = false) const noexcept {
        const auto found =
            std::lower_bound(entries_.begin(), entries_.end(), id,
                             [](const entry& each, std::uint64_t wanted_id) { return each.id < wanted_id; });
        return found != entries_.end() && (or_next || found->id == id) ? found : entries_.end();
    }

    bool is_in_place(const_iterator subject, std::uint64_t place_id) const noexcept {
        return subject != entries_.end() && subject->sent->place_id == place_id;
    }

    /// Returns the index of the first call behind the place of the call at `index`.
    std::size_t end_of_place(std::size_t index) const noexcept {
        const auto place_id = at(index)->sent->place_id;
        const auto next = at(index + 1);
        const auto end = !is_in_place(next, place_id)
                             ? next
                             : std::partition_point(next, entries_.end(), [place_id](const entry& each) {
                                   return each.sent->place_id == place_id;
                               });
        return static_cast<std::size_t>(end - entries_.begin());
    }

    bool has_batch() const noexcept { return load() < size(); }

    bool is_alone_in_place(const_iterator subject) const noexcept {
        if (!has_batch()) {
            return true;
        }
        const auto is_beside = [&](const entry& other) {
            return other.sent->place_id == subject->sent->place_id;
        };
        const bool has_earlier = subject != entries_.begin() && is_beside(*(subject - 1));
        const bool has_later = subject + 1 != entries_.end() && is_beside(*(subject + 1));
        return !has_earlier && !has_later;
    }

    const_iterator at(std::size_t index) const noexcept {
        return entries_.begin() + static_cast<std::ptrdiff_t>(index);
    }

    boost::circular_buffer<entry> entries_; ///< ascending ids
    std::uint64_t next_id_ = 1;
    std::size_t taken_ = 0; ///< places
    std::size_t capacity_ = 0;
    std::size_t reserved_ = 0; ///< places
    std::size_t unused_ = 0;   ///< reserved places without a call
    std::size_t recalled_ = 0; ///< calls
    counts_by_pace paces_;     ///< calls
};

} // namespace skep
