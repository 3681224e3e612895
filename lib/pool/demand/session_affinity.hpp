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

/// Error text: why the worker of a session is not available.
inline constexpr auto worker_is_gone = "it is gone, and with it what it knew of the session; begin anew: "
                                       "co_await pool.forget_session(id), or another "
                                       "session; affinity_mode::hint does by itself";

/// Knows the worker of each session, for up to affinity_options::limit sessions. Every operation is O(1),
/// except dropping expired sessions. The end of a worker is O(1), too, for any number of sessions. On the
/// pool's strand.
class session_affinity {
public:
    explicit session_affinity(const affinity_options& options) : options_(options) {}

    /// The worker of a session, as far as known.
    struct home {
        worker* assigned_worker = nullptr; ///< null unless it serves
        bool is_lost = false;              ///< there was a worker, and it has left
    };

    home home_of(const std::string& session, time_point now);

    affinity_mode mode_of(const request& new_request) const noexcept {
        return new_request.affinity().value_or(options_.mode);
    }
    affinity_mode mode_of(const checkout_options& options) const noexcept {
        return options.affinity().value_or(options.worker() ? affinity_mode::hint : options_.mode);
    }

    /// Marks the session as in use, while a call of the session waits for its worker or runs. A session in
    /// use does not expire. begin_use() returns false if there is no room for the session.
    bool begin_use(const std::string& session, time_point now);
    void end_use(const std::string& session, time_point now) noexcept;

    /// Binds a session, in use, to `target`. Returns true if `target` served the session before. A strictly
    /// bound session stays bound: a call that may go to any worker does not move the session.
    bool bind(const std::string& session, affinity_mode mode, worker& target);

    /// Returns the binding of the session, without the worker's pool and state; empty if no worker is known
    /// to serve it.
    std::optional<session_binding> binding_of(const std::string& session, time_point now);

    /// The worker takes no more calls.
    void left(const worker& leaver);

    /// Returns true if the session is known, not in use, and was last used before `since`.
    bool is_unused(const std::string& session, time_point since) const;

    /// Returns false if no worker is known to serve the session.
    bool forget(const std::string& session);

    /// Drops sessions unused for their ttl, a limited number at a time, so that other work need not wait.
    void drop_expired(time_point now);

    /// Returns when a session will expire next; time_point::max() if every session is in use.
    time_point next_expiry() const noexcept;

    std::size_t size() const noexcept { return bonds_.size(); }

    /// Returns the number of sessions with a known worker, present or past.
    std::size_t bound() const noexcept { return bound_; }

private:
    struct bond : boost::intrusive::list_base_hook<> {
        const std::string* session = nullptr;
        boost::intrusive_ptr<served_sessions> server_sessions; ///< null before a worker has the first call
        time_point used;                                       ///< end of the last call
        bool is_strict = false;
        std::size_t calls = 0; ///< waiting or running
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
    std::size_t bound_ = 0; ///< sessions with a known worker
    bond_list idle_hints_;  ///< not in use, least recently used first
    bond_list idle_strict_; ///< likewise
};

} // namespace skep
