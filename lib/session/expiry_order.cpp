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

void expiry_order::add(session_entry& added) {
    const auto end = added.end();
    seconds_[second_of(end)].push_back(added);
    added.filed_end = end;
}

void expiry_order::access(session_entry& accessed, time_point now) {
    const auto before = std::exchange(accessed.last_accessed, now);
    if (accessed.end() - accessed.filed_end >= accessed.data.ttl() / 8) {
        try {
            refile(accessed);
        } catch (...) {
            accessed.last_accessed = before;
            throw;
        }
    }
}

void expiry_order::refile(session_entry& moved) {
    const auto end = moved.end();
    if (second_of(end) != second_of(moved.filed_end)) {
        auto& to = seconds_[second_of(end)]; // which may fail; nothing has changed yet
        remove(moved);
        to.push_back(moved);
    } else {
        auto& same = seconds_.find(second_of(end))->second;
        same.splice(same.end(), same, list::s_iterator_to(moved));
    }
    moved.filed_end = end;
}

void expiry_order::remove(session_entry& removed) noexcept {
    const auto from = seconds_.find(second_of(removed.filed_end));
    from->second.erase(list::s_iterator_to(removed));
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
