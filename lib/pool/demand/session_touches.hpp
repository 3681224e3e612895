// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include <skep/worker_id.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace skep {

class session_store;

/// Tells the store of sessions that calls use them, and which worker serves them. One touch of a session is under way at a
/// time, and a call meanwhile causes one more after it: so the queue for a store that is silent grows with neither calls nor
/// time. On the pool's strand.
class session_touches {
public:
    /// Touches under way. A session used beyond that is not touched: it may expire in the store, whose backend is
    /// overtaxed.
    static constexpr std::size_t most = 4'096;

    /// `store` may be null.
    session_touches(const strand& executor, std::shared_ptr<session_store> store);

    /// The worker serves the session from now on, or once more. `owner` keeps this alive.
    void add(std::shared_ptr<void> owner, const std::string& session, const worker_id& last_worker);

    /// Ends the waits of those under way.
    void cancel() { tasks_.cancel(); }

private:
    struct touch {
        worker_id last_worker;
        bool is_used_again = false; ///< since it began
    };

    using touches = std::unordered_map<std::string, touch>; ///< by session

    touches::value_type& begin(const std::string& session);
    void end(const std::string& session) noexcept;
    asio::awaitable<void> follow(touches::value_type& use);

    std::shared_ptr<session_store> store_;
    touches under_way_;
    std::vector<touches::node_type> spare_; ///< with the memory of the names that were in them
    task_group tasks_;
};

} // namespace skep
