// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "session/expiry_order.hpp"

#include <chrono>
#include <utility>

namespace skep {

namespace {

std::int64_t second_of(time_point moment) noexcept {
    return std::chrono::floor<std::chrono::seconds>(moment.time_since_epoch()).count();
}

} // namespace

void expiry_order::add(session_entry& new_entry) {
    const auto end = new_entry.end();
    seconds_[second_of(end)].push_back(new_entry);
    new_entry.filed_end = end;
}

void expiry_order::access(session_entry& used_entry, time_point now) {
    const auto before = std::exchange(used_entry.last_accessed, now);
    if (used_entry.end() - used_entry.filed_end >= used_entry.data.ttl() / 8) {
        try {
            refile(used_entry);
        } catch (...) {
            used_entry.last_accessed = before;
            throw;
        }
    }
}

void expiry_order::refile(session_entry& moved_entry) {
    const auto end = moved_entry.end();
    if (second_of(end) != second_of(moved_entry.filed_end)) {
        auto& to = seconds_[second_of(end)]; // may fail; nothing has changed yet
        remove(moved_entry);
        to.push_back(moved_entry);
    } else {
        auto& same = seconds_.find(second_of(end))->second;
        same.splice(same.end(), same, list::s_iterator_to(moved_entry));
    }
    moved_entry.filed_end = end;
}

void expiry_order::remove(session_entry& removed_entry) noexcept {
    const auto from = seconds_.find(second_of(removed_entry.filed_end));
    from->second.erase(list::s_iterator_to(removed_entry));
    if (from->second.empty()) {
        seconds_.erase(from);
    }
}

session_entry* expiry_order::first_due(time_point now) noexcept {
    if (seconds_.empty()) {
        return nullptr;
    }
    auto& first = seconds_.begin()->second.front();
    return first.filed_end < now ? &first : nullptr;
}

} // namespace skep
