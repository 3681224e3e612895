// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "session/expiry_order.hpp"
#include "session/session_entry.hpp"
#include <skep/session_backend.hpp>

#include <boost/unordered/unordered_flat_set.hpp>

#include <cstddef>
#include <cstdint>

namespace skep {

/// Sessions by id and by expiry. Takes no lock and reads no clock: `now` must not run backwards. Returns
/// dropped sessions to the caller, which destroys them without a lock held, because destruction may take
/// long.
class session_table {
public:
    /// Reserves room for `expected` sessions, to avoid a pause on growth.
    explicit session_table(std::size_t expected) { entries_.reserve(expected); }
    ~session_table();
    session_table(const session_table&) = delete;
    session_table& operator=(const session_table&) = delete;

    /// Returns null if the session does not exist or has expired. `dropped_entry` receives the expired
    /// session.
    session_entry* find(const session_key& key, time_point now, session_entry_ptr& dropped_entry) noexcept;

    /// Precondition: no session has that id. Strong exception guarantee.
    void insert(const session_entry_ptr& new_entry, time_point now);

    /// Strong exception guarantee.
    void touch(session_entry& used_entry, time_point now) { order_.access(used_entry, now); }

    /// Replaces an entry by `new_entry` with the same id. `new_entry` receives the old entry. Strong
    /// exception guarantee.
    void replace(session_entry& old_entry, session_entry_ptr& new_entry, time_point now);

    session_entry_ptr remove(session_entry& removed_entry) noexcept;

    /// Examines a session that may have expired. `dropped_entry` receives an expired session. Returns false
    /// if none is due.
    bool sweep_one(time_point now, session_entry_ptr& dropped_entry);

    static session read(const session_entry& entry, time_point now) noexcept;

    session_usage usage() const noexcept { return {entries_.size(), expired_, bytes_}; }

private:
    struct slot {
        mutable session_entry_ptr entry; ///< may be replaced by another entry of the same id
    };
    struct hash {
        using is_transparent = void;
        std::size_t operator()(const slot& entry_slot) const noexcept { return entry_slot.entry->hash; }
        std::size_t operator()(const session_key& key) const noexcept { return key.hash; }
    };
    struct equal {
        using is_transparent = void;
        bool operator()(const slot& a, const slot& b) const noexcept { return a.entry == b.entry; }
        bool operator()(const session_key& key, const slot& entry_slot) const noexcept {
            return entry_slot.entry->is(key);
        }
        bool operator()(const slot& entry_slot, const session_key& key) const noexcept {
            return entry_slot.entry->is(key);
        }
    };
    using set = boost::unordered_flat_set<slot, hash, equal>;

    set::iterator place_of(const session_entry& entry) noexcept;

    set entries_;
    expiry_order order_;
    std::uint64_t last_version_ = 0; ///< over all sessions, so that no version repeats
    std::uint64_t expired_ = 0;
    std::size_t bytes_ = 0;
};

} // namespace skep
