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

/// Records in the session store that calls use sessions, and the workers of these sessions. One touch of a
/// session is under way at a time, and a call meanwhile causes one more touch. So the queue for a silent
/// store grows with neither calls nor time. On the pool's strand.
class session_touches {
public:
    /// Most touches under way. Further sessions are not touched, and may expire in the store: its backend is
    /// overloaded.
    static constexpr std::size_t most = 4'096;

    /// `store` may be null.
    session_touches(const strand& executor, std::shared_ptr<session_store> store);

    /// The worker serves the session from now on, or again. `owner` keeps this object alive.
    void add(std::shared_ptr<void> owner, const std::string& session, const worker_id& last_worker);

    /// Ends the waits of the touches under way.
    void cancel() { tasks_.cancel(); }

private:
    struct touch {
        worker_id last_worker;
        bool is_used_again = false; ///< since the touch began
    };

    using touches = std::unordered_map<std::string, touch>; ///< by session

    touches::value_type& begin(const std::string& session);
    void end(const std::string& session) noexcept;
    asio::awaitable<void> follow(touches::value_type& use);

    std::shared_ptr<session_store> store_;
    touches under_way_;
    std::vector<touches::node_type> spare_; ///< keep the memory of the names they had
    task_group tasks_;
};

} // namespace skep
