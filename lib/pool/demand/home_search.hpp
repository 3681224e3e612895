// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/condition_variable.hpp"
#include "async/task_group.hpp"
#include "pool/demand/session_router.hpp"
#include "pool/demand/waiting_room.hpp"
#include "runtime/session_homes.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <utility>

namespace skep {

/// Finds the workers of sessions that have none in this pool yet, as other programs may have bound a session:
/// see session_homes. The calls of such a session wait in the queue meanwhile, all of them for one question.
/// Does nothing in a pool whose workers are its own. On the pool's strand.
class home_search {
public:
    /// The most searches at a time. As many calls may wait beyond queue.limit.
    static constexpr std::size_t most = 1000;

    home_search(const worker_surroundings& surroundings, waiting_room& room, session_router& sessions);

    /// Returns true if the worker of the call's session is to be found before the call goes anywhere. A call
    /// with a hint waits once: when it is new.
    bool is_due(const call& next, const route& chosen_route) const noexcept {
        return homes_ != nullptr && chosen_route.home == nullptr && wants_home(next);
    }

    /// Begins the search, or joins it. Returns false if there are too many searches.
    bool begin(const std::string& session);

    /// Binds the session of a strict call to the node that all clients choose for it, without a search.
    /// Returns false if this pool has no link to the node.
    bool bind_without_search(const std::string& session);

    /// A worker takes calls from now on.
    void on_worker() { changed_.notify_all(); }

    /// Tells the nodes that the session begins anew.
    void forget(const std::string& session);

    /// Ends the searches.
    void cancel() { tasks_.cancel(); }

private:
    using session_set = std::set<std::string>;

    /// The entry of a search in the set of searches.
    class entry {
    public:
        entry(session_set& searches, const std::string& session)
            : searches_(&searches), at_(searches.insert(session).first) {}
        entry(entry&& other) noexcept : searches_(std::exchange(other.searches_, nullptr)), at_(other.at_) {}
        entry& operator=(entry&&) = delete;
        ~entry() { end(); }

        const std::string& session() const noexcept { return *at_; }

        /// Removes the entry. Returns the session.
        std::string end() noexcept {
            return searches_ == nullptr ? std::string()
                                        : std::move(std::exchange(searches_, nullptr)->extract(at_).value());
        }

    private:
        session_set* searches_; ///< null once removed
        session_set::iterator at_;
    };

    bool wants_home(const call& next) const noexcept {
        return next.state == call_state::fresh || sessions_.is_strict(next);
    }
    asio::awaitable<void> follow(entry search);
    asio::awaitable<void> find(const std::string& session);
    asio::awaitable<bool> is_settled(const std::string& session, const home_report& report);
    asio::awaitable<bool> is_bound(const std::string& session, const std::string& node, bool is_strict);
    bool is_awaited(const std::string& session);
    bool is_awaited_strictly(const std::string& session);
    worker* worker_at(const std::string& node) const noexcept;
    time_point now() const noexcept { return surroundings_.context.now(); }

    const worker_surroundings& surroundings_;
    waiting_room& room_;
    session_router& sessions_;
    session_homes* homes_; ///< null for workers of this pool alone
    session_set searches_;
    condition_variable changed_; ///< by a worker
    task_group tasks_;
};

} // namespace skep
