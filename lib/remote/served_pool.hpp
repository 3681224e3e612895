// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/link_message.hpp"
#include <skep/call_interface.hpp>
#include <skep/export.hpp>
#include <skep/load_view.hpp>
#include <skep/pool.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace skep {

/// A pool that a node offers to clients. Used on the node's strand.
class served_pool {
public:
    using restart_function = std::function<boost::asio::awaitable<void>()>;

    /// `calls` must outlive the node. `load_of_calls`: callable on the node's strand.
    /// `queue_per_place`: number of calls that may wait for each place of the pool. `restart`: replaces the
    /// workers of the pool; empty: there is nothing to replace.
    served_pool(call_interface& calls, std::function<load_view()> load_of_calls, double queue_per_place = 2,
                restart_function restart = {});
    SKEP_API explicit served_pool(pool& offered_pool, double queue_per_place = 2);

    call_interface& calls() const noexcept { return calls_; }

    /// Returns the load now, and tells it in the messages of the links from now on.
    load_view look();

    /// Returns the load in the messages of the links.
    const link_load& told() const noexcept { return told_; }
    void set_draining(bool is_draining) noexcept { told_.is_draining = is_draining; }

    /// Replaces the workers: see pool::rolling_restart.
    boost::asio::awaitable<void> restart();

    /// Returns the most calls of all clients at a time, and of each: 1..65,536.
    std::size_t most_calls() const;
    bool has_room() const { return running_ < most_calls(); }

    // A client's call begins to run or wait, or has ended. `session`: of the call; may be empty.
    void begin_call(const std::string& session);
    void end_call(const std::string& session);

    /// Returns true if a client's call of the session runs or waits here, or the pool knows the worker of the
    /// session.
    boost::asio::awaitable<bool> has_session(std::string id);

    /// Makes the pool forget the session.
    boost::asio::awaitable<void> forget_session(std::string id);

private:
    std::size_t most_calls(const load_view& load) const noexcept;

    call_interface& calls_;
    pool* pool_ = nullptr; ///< that remembers sessions, if it does
    std::function<load_view()> load_;
    double queue_per_place_;
    restart_function restart_;
    std::size_t running_ = 0;                     ///< calls of all clients that run or wait
    std::map<std::string, std::size_t> sessions_; ///< number of these calls, by session
    link_load told_;
};

} // namespace skep
