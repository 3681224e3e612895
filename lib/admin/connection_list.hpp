// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/intrusive/list.hpp>

#include <cstddef>

namespace skep {

/// The data of a connection in a connection_list. A listed connection may be destroyed at any time.
class listed_connection
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
private:
    friend class connection_list;

    bool is_at_work_ = false; ///< a whole request has arrived, and the answer is not sent
};

/// The connections of a server. An idle connection gives way to a new one; idle means that it waits for its
/// client, either for a whole request or for the client to accept an answer. The list chooses the connection
/// to close, but closes and owns no connection.
class connection_list {
public:
    std::size_t size() const noexcept { return size_; }

    /// Adds a connection that waits for its client.
    void add(listed_connection& new_connection) noexcept {
        connections_.push_back(new_connection);
        ++size_;
    }

    void remove(listed_connection& ended_connection) noexcept {
        if (ended_connection.is_linked()) {
            ended_connection.unlink();
            --size_;
        }
    }

    /// Marks a connection as busy: a whole request has arrived.
    void begin_work(listed_connection& busy) noexcept { busy.is_at_work_ = true; }

    /// Marks a connection as idle: its answer is ready, and it waits for its client from now on.
    void end_work(listed_connection& idle) noexcept {
        idle.is_at_work_ = false;
        if (idle.is_linked()) {
            connections_.splice(connections_.end(), connections_, connections_.iterator_to(idle));
        }
    }

    /// Returns the connection that has been idle longest; null if all are busy.
    listed_connection* longest_idle() noexcept {
        for (auto& each : connections_) {
            if (!each.is_at_work_) {
                return &each;
            }
        }
        return nullptr;
    }

private:
    /// in the order of their idle times
    boost::intrusive::list<listed_connection, boost::intrusive::constant_time_size<false>> connections_;
    std::size_t size_ = 0;
};

} // namespace skep
