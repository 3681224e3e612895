// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "session/session_table.hpp"

#include <utility>

namespace skep {

session_table::~session_table() {
    for (const auto& each : entries_) {
        order_.remove(*each.entry);
    }
}

session_table::set::iterator session_table::place_of(const session_entry& entry) noexcept {
    return entries_.find(session_key(entry.id));
}

session_entry* session_table::find(const session_key& key, time_point now,
                                   session_entry_ptr& dropped_entry) noexcept {
    const auto found = entries_.find(key);
    if (found == entries_.end()) {
        return nullptr;
    }
    auto* const entry = found->entry.get();
    if (entry->has_expired(now)) {
        dropped_entry = remove(*entry);
        ++expired_;
        return nullptr;
    }
    return entry;
}

void session_table::insert(const session_entry_ptr& new_entry, time_point now) {
    new_entry->created = now;
    new_entry->last_accessed = now;
    order_.add(*new_entry);
    try {
        entries_.insert(slot{new_entry});
    } catch (...) {
        order_.remove(*new_entry);
        throw;
    }
    new_entry->version = ++last_version_;
    bytes_ += new_entry->bytes;
}

void session_table::replace(session_entry& old_entry, session_entry_ptr& new_entry, time_point now) {
    new_entry->created = old_entry.created;
    new_entry->last_accessed = now;
    new_entry->last_worker = old_entry.last_worker;
    order_.add(*new_entry);
    order_.remove(old_entry);
    bytes_ += new_entry->bytes - old_entry.bytes;
    new_entry->version = ++last_version_;
    place_of(old_entry)->entry.swap(new_entry);
}

session_entry_ptr session_table::remove(session_entry& removed_entry) noexcept {
    const auto place = place_of(removed_entry);
    session_entry_ptr kept = place->entry;
    order_.remove(removed_entry);
    entries_.erase(place);
    bytes_ -= removed_entry.bytes;
    return kept;
}

bool session_table::sweep_one(time_point now, session_entry_ptr& dropped_entry) {
    auto* const entry = order_.first_due(now);
    if (entry == nullptr) {
        return false;
    }
    if (entry->has_expired(now)) {
        dropped_entry = remove(*entry);
        ++expired_;
    } else {
        order_.refile(*entry);
    }
    return true;
}

session session_table::read(const session_entry& entry, time_point now) noexcept {
    session result(&entry, now - entry.created, now - entry.last_accessed, entry.version);
    result.set_last_worker(entry.last_worker);
    return result;
}

} // namespace skep
