// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "session/session_entry.hpp"

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <map>

namespace skep {

/// Sessions filed by the second of their end. An access moves the end, but files the session anew only if the
/// end has moved by an eighth of the ttl since the last filing. Filing costs O(log s) for s seconds in use,
/// 3600 for the default ttl; any other access costs nothing. So the session filed first may live on for up to
/// an eighth of its ttl, and is then filed anew. Sessions of one second are in the order of filing, which is
/// the order of their ends for a single ttl. With several ttls, a session may be found a second late.
class expiry_order {
public:
    /// Files the session by its last access and its ttl. Strong exception guarantee.
    void add(session_entry& new_entry);

    /// Records an access. Strong exception guarantee.
    void access(session_entry& used_entry, time_point now);

    void remove(session_entry& removed_entry) noexcept;

    /// Returns a session that has expired by `now` unless accessed since its filing, or null.
    session_entry* first_due(time_point now) noexcept;

    /// Files the session by its true end. Strong exception guarantee.
    void refile(session_entry& moved_entry);

private:
    // Without a count of its own, to save a write at each move.
    using list = boost::intrusive::list<session_entry, boost::intrusive::constant_time_size<false>>;

    std::map<std::int64_t, list> seconds_; ///< no list is empty
};

} // namespace skep
