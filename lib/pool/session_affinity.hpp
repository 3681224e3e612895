// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "worker/worker.hpp"
#include <skep/affinity.hpp>

#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstddef>
#include <string>
#include <unordered_map>

namespace skep {

/// Knows which worker serves which session. Every operation is O(1), but for the dropping of sessions that have
/// expired; so is the end of a worker, however many sessions it has served. On the pool's strand.
class session_affinity {
public:
    explicit session_affinity(const affinity_options& options) : options_(options) {}

    /// What is known of the worker that serves a session.
    struct home {
        worker* at = nullptr; ///< null unless it is there
        bool is_lost = false; ///< it was there
    };

    home home_of(const std::string& session, time_point now);

    affinity_mode mode_of(const request& wanting) const noexcept {
        return wanting.affinity().value_or(options_.mode);
    }

    /// The worker is assigned a call of the session. True if it has served that before.
    bool bind(const request& assigned, worker& to, time_point now);

    /// A call of the session waits for its worker, or does not any more: meanwhile the session is in use.
    void begin_wait(const std::string& session) noexcept;
    void end_wait(const std::string& session) noexcept;

    /// The worker takes no more calls.
    void left(const worker& gone);

    /// Whether it is known, but was not used then, or later, and no call of it waits.
    bool is_unused(const std::string& session, time_point since) const;

    /// False if nothing is known of the session.
    bool forget(const std::string& session);

    /// Drops what has not been used for its ttl: so much of it at a time that nobody has to wait for that.
    void drop_expired(time_point now);

    /// When there will be something to drop.
    time_point next_expiry() const noexcept;

    std::size_t size() const noexcept { return bonds_.size(); }

private:
    /// One incarnation of a slot, as its sessions know it.
    struct incarnation : boost::intrusive_ref_counter<incarnation, boost::thread_unsafe_counter> {
        worker* at = nullptr;      ///< null once it has left
        bool has_moved_on = false; ///< then: as planned, and its sessions are to go elsewhere
    };
    using incarnation_ptr = boost::intrusive_ptr<incarnation>;

    struct bond : boost::intrusive::list_base_hook<> {
        const std::string* session = nullptr;
        incarnation_ptr to;
        time_point used;
        bool is_strict = false;
        std::size_t waiting = 0; ///< calls
    };

    using bonds = std::unordered_map<std::string, bond>;

    const incarnation_ptr& incarnation_of(worker& serving);
    static void release(bond& loosened) noexcept;
    void drop(bonds::iterator dropped);
    bool has_expired(const bond& what, time_point now) const noexcept;
    void use(bond& what, time_point now) noexcept;

    const affinity_options& options_;
    bonds bonds_;
    boost::intrusive::list<bond> by_use_; ///< the one that has not been used for longest first
    std::unordered_map<const worker*, incarnation_ptr> serving_;
};

} // namespace skep
