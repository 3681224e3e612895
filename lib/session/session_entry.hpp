// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "session/session_memory.hpp"
#include <skep/session.hpp>
#include <skep/time.hpp>

#include <boost/intrusive/list_hook.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace skep {

/// An id and its hash, computed once, before a lock is taken.
struct session_key {
    explicit session_key(std::string_view session_id) noexcept
        : id(session_id), hash(std::hash<std::string_view>()(session_id)) {}

    std::string_view id;
    std::size_t hash;
};

/// A session in memory, with the state shared by its readers and the beginning of its id. Among a million
/// sessions, fetching memory dominates the cost of a look-up: a look-up fetches this entry alone.
struct alignas(64) session_entry final : detail::session_state, boost::intrusive::list_base_hook<> {
    session_entry(std::string session_id, session_data initial_data,
                  std::chrono::system_clock::time_point created_when)
        : session_state(std::move(session_id), std::move(initial_data), created_when),
          hash(session_key(id).hash),
          bytes(memory_of(*this, sizeof(*this))) {
        std::copy_n(id.begin(), std::min(id.size(), beginning.size()), beginning.begin());
    }

    bool is(const session_key& key) const noexcept {
        return key.hash == hash && key.id.size() == size &&
               key.id.substr(0, beginning.size()) ==
                   std::string_view(beginning.data(), std::min(size, beginning.size())) &&
               (size <= beginning.size() || key.id == id);
    }

    /// Returns true if the last access is longer ago than the ttl.
    bool has_expired(time_point now) const noexcept { return end() < now; }
    time_point end() const noexcept { return last_accessed + data.ttl(); }

    time_point last_accessed;
    std::size_t hash; ///< of the id
    std::size_t size = id.size();
    std::array<char, 40> beginning; ///< of the id: all of a UUID
    std::uint64_t version = 0;
    time_point created;
    time_point filed_end;                         ///< see expiry_order
    std::size_t bytes;                            ///< estimated size
    std::shared_ptr<const worker_id> last_worker; ///< null if unknown
};

using session_entry_ptr = boost::intrusive_ptr<session_entry>;

} // namespace skep
