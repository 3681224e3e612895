// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "worker/worker.hpp"
#include <skep/affinity.hpp>
#include <skep/lease.hpp>

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>

namespace skep {

/// Why the worker of a session is not available.
inline constexpr auto worker_is_gone = "it is gone, and with it what it knew of the session; begin anew: "
                                       "co_await pool.forget_session(id), or another "
                                       "session; affinity_mode::hint does by itself";

/// Knows which worker serves which session: of as many sessions as affinity_options::limit allows. Every operation is O(1),
/// but for the dropping of sessions that have expired; so is the end of a worker, however many sessions it has served. On
/// the pool's strand.
class session_affinity {
public:
    explicit session_affinity(const affinity_options& options) : options_(options) {}

    /// What is known of the worker that serves a session.
    struct home {
        worker* assigned_worker = nullptr; ///< null unless it is there
        bool is_lost = false;              ///< it was there
    };

    home home_of(const std::string& session, time_point now);

    affinity_mode mode_of(const request& new_request) const noexcept {
        return new_request.affinity().value_or(options_.mode);
    }
    affinity_mode mode_of(const checkout_options& options) const noexcept {
        return options.affinity().value_or(options.worker() ? affinity_mode::hint : options_.mode);
    }

    /// A call of the session begins to wait for its worker, or to run, and ends: meanwhile the session is in use, and does
    /// not expire. begin_use() returns false if there is no room for the session.
    bool begin_use(const std::string& session, time_point now);
    void end_use(const std::string& session, time_point now) noexcept;

    /// The worker serves the session, which is in use, from now on. True if it has served it before. A session that is
    /// strictly bound stays so: what may go to any worker does not take it along.
    bool bind(const std::string& session, affinity_mode mode, worker& target);

    /// What is known of the session, but for its worker's pool and state; nothing if no worker is known to serve it.
    std::optional<session_binding> binding_of(const std::string& session, time_point now);

    /// The worker takes no more calls.
    void left(const worker& leaver);

    /// Whether it is known, but was not used then, or later, and is not in use.
    bool is_unused(const std::string& session, time_point since) const;

    /// False if no worker is known to serve the session.
    bool forget(const std::string& session);

    /// Drops what has not been used for its ttl: so much of it at a time that nobody has to wait for that.
    void drop_expired(time_point now);

    /// When there will be something to drop; time_point::max() if every session is in use.
    time_point next_expiry() const noexcept;

    std::size_t size() const noexcept { return bonds_.size(); }

    /// Those of which it is known which worker serves them, or has.
    std::size_t bound() const noexcept { return bound_; }

private:
    struct bond : boost::intrusive::list_base_hook<> {
        const std::string* session = nullptr;
        boost::intrusive_ptr<served_sessions> server_sessions; ///< null before a worker has its first call
        time_point used;                                       ///< when the last call of it ended
        bool is_strict = false;
        std::size_t calls = 0; ///< that wait or run
    };

    using bonds = std::unordered_map<std::string, bond>;
    using bond_list = boost::intrusive::list<bond>;

    bonds::iterator find(const std::string& session, time_point now);
    bool make_room(time_point now);
    static void release(bond& released_bond) noexcept;
    void detach(bond& released_bond) noexcept;
    void drop(bonds::iterator dropped_bond) noexcept;
    void drop(bond& dropped_bond) noexcept { drop(bonds_.find(*dropped_bond.session)); }
    bool has_expired(const bond& subject, time_point now) const noexcept;
    bool is_front_expired(const bond_list& list, time_point now) const noexcept {
        return !list.empty() && has_expired(list.front(), now);
    }
    bond_list& idle(const bond& peer) noexcept { return peer.is_strict ? idle_strict_ : idle_hints_; }

    const affinity_options& options_;
    bonds bonds_;
    std::size_t bound_ = 0; ///< of them
    bond_list idle_hints_;  ///< not in use; the one that has not been used for longest first
    bond_list idle_strict_; ///< likewise
};

} // namespace skep
