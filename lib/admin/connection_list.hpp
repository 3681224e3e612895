// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/intrusive/list.hpp>

#include <cstddef>

namespace skep {

/// What a connection_list knows of a connection, which may be destroyed while it is listed.
class listed_connection
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
private:
    friend class connection_list;

    bool is_at_work_ = false; ///< a whole request has come, and no byte of its answer was sent
};

/// The connections of a server, of which those that wait for their clients give way to others: for a whole request, or for
/// the client to take an answer. Decides who goes; closes nothing. Owns nothing.
class connection_list {
public:
    std::size_t size() const noexcept { return size_; }

    /// It waits for its client.
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

    /// A whole request has come.
    void begin_work(listed_connection& busy) noexcept { busy.is_at_work_ = true; }

    /// Its answer is made: from now on it waits for its client.
    void end_work(listed_connection& idle) noexcept {
        idle.is_at_work_ = false;
        if (idle.is_linked()) {
            connections_.splice(connections_.end(), connections_, connections_.iterator_to(idle));
        }
    }

    /// The one that has waited longest for its client; null if all are at work.
    listed_connection* longest_idle() noexcept {
        for (auto& each : connections_) {
            if (!each.is_at_work_) {
                return &each;
            }
        }
        return nullptr;
    }

private:
    /// In the order in which they began to wait.
    boost::intrusive::list<listed_connection, boost::intrusive::constant_time_size<false>> connections_;
    std::size_t size_ = 0;
};

} // namespace skep
