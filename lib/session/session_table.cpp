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
                                   session_entry_ptr& dropped) noexcept {
    const auto found = entries_.find(key);
    if (found == entries_.end()) {
        return nullptr;
    }
    auto* const entry = found->entry.get();
    if (entry->has_expired(now)) {
        dropped = remove(*entry);
        ++expired_;
        return nullptr;
    }
    return entry;
}

void session_table::insert(const session_entry_ptr& added, time_point now) {
    added->created = now;
    added->last_accessed = now;
    order_.add(*added);
    try {
        entries_.insert(slot{added});
    } catch (...) {
        order_.remove(*added);
        throw;
    }
    added->version = ++last_version_;
    bytes_ += added->bytes;
}

void session_table::replace(session_entry& replaced, session_entry_ptr& added, time_point now) {
    added->created = replaced.created;
    added->last_accessed = now;
    added->last_worker = replaced.last_worker;
    order_.add(*added);
    order_.remove(replaced);
    bytes_ += added->bytes - replaced.bytes;
    added->version = ++last_version_;
    place_of(replaced)->entry.swap(added);
}

session_entry_ptr session_table::remove(session_entry& removed) noexcept {
    const auto place = place_of(removed);
    session_entry_ptr kept = place->entry;
    order_.remove(removed);
    entries_.erase(place);
    bytes_ -= removed.bytes;
    return kept;
}

bool session_table::sweep_one(time_point now, session_entry_ptr& dropped) {
    auto* const entry = order_.first_due(now);
    if (entry == nullptr) {
        return false;
    }
    if (entry->has_expired(now)) {
        dropped = remove(*entry);
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
