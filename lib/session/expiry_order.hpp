// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "session/session_entry.hpp"

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <map>

namespace skep {

/// Sessions filed by the second in which they are to end. An access moves that end, but it moves the session only if
/// the end has moved by an eighth of the ttl since it was filed, in O(log s) of s seconds in use, 3600 for the default
/// ttl; else it costs nothing. So what is filed first may live on for up to that long, and is then filed anew.
/// Within a second they are in the order in which they were filed, which is that of their ends if they have one ttl; so
/// with several, one of them may be found a second late.
class expiry_order {
public:
    /// By its last access and its ttl. Strong exception guarantee.
    void add(session_entry& new_entry);

    /// It is accessed. Strong exception guarantee.
    void access(session_entry& used_entry, time_point now);

    void remove(session_entry& removed_entry) noexcept;

    /// One that had expired by `now` if nobody accessed it after it was filed; null if there is none.
    session_entry* first_due(time_point now) noexcept;

    /// Files it by its true end. Strong exception guarantee.
    void refile(session_entry& moved_entry);

private:
    // Without a count of its own: that would be one more thing to write to at each move.
    using list = boost::intrusive::list<session_entry, boost::intrusive::constant_time_size<false>>;

    std::map<std::int64_t, list> seconds_; ///< none is empty
};

} // namespace skep
