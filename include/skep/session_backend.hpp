// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/awaitable.hpp>
#include <skep/export.hpp>
#include <skep/session.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace skep {

/// Says whether a read of a session counts as an access.
enum class session_access {
    look, ///< no access: the expiry time stays
    touch ///< an access: the idle time restarts
};

/// Outcome of session_backend::insert().
struct session_insertion {
    std::optional<session> stored; ///< the new or existing session; empty: the quota is exceeded
    bool is_new = false;           ///< true if no session had that id
    std::size_t count = 0;         ///< sessions that the backend now holds, as far as the backend knows
};

/// Outcome of session_backend::replace().
struct session_replacement {
    std::optional<session> stored; ///< the changed session; empty: no change
    bool is_gone = false;          ///< no change because the session is gone; false: its version differs
};

/// Outcome of one slice of a clean-up.
struct session_sweep {
    std::size_t removed = 0; ///< expired sessions removed
    bool is_done = false;    ///< true if no expired session is left
};

/// Contents of a backend, including expired sessions that are not yet swept.
struct session_usage {
    std::size_t count = 0;     ///< number of sessions
    std::uint64_t expired = 0; ///< sessions dropped after their expiry, since the construction of the backend
    std::size_t memory_bytes = 0; ///< approximate memory of the sessions in this process
};

/// Storage of a session_store; the default storage is in this process. A remote backend needs a key-value
/// store with expiring keys and an atomic compare-and-swap: a script, or a transaction that watches the key.
///
/// Expiry: a session has expired once it has not been accessed for longer than its ttl. From that moment on
/// no function finds the session, even if it still takes memory. The backend's clock decides; it is
/// monotonic.
///
/// Thread safety: every function may be called from any thread, at any time.
/// Lifetime: the store keeps the backend alive until the last operation of the store has ended.
/// Executor: the caller's.
/// Cancellation: a function that waits ends its wait on cancellation (terminal) by throwing
/// error(errc::cancelled); its effect may have happened by then.
/// Errors: any other exception ends the store's operation and reaches its caller. Throw skep::error.
class SKEP_API session_backend {
public:
    /// The awaitable type of every function. co_await and Asio's co_spawn accept it.
    template <class T>
    using awaitable = boost::asio::awaitable<T, boost::asio::any_io_executor>;
    /// The handler that on_expiry() receives.
    using expiry_handler = std::function<void(const std::string& id, time_point expiry_time)>;

    virtual ~session_backend();

    /// Stores a new session. If a session with that id exists, touches it and returns it instead. Refuses a
    /// new session if the backend holds `quota` sessions or more; sessions that expired more than a second
    /// ago do not count. `data` has a ttl.
    virtual awaitable<session_insertion> insert(std::string id, session_data data,
                                                session::wall_time created_at, std::size_t quota) = 0;

    /// Returns the session with its version, or an empty optional if no unexpired session has that id.
    virtual awaitable<std::optional<session>> find(std::string id, session_access access) = 0;

    /// Replaces the data of the session by `data` and touches the session, if its version is still the
    /// version of `old_session`. Otherwise does nothing. Gives the session a new version that no session with
    /// that id has had before, including removed sessions.
    virtual awaitable<session_replacement> replace(session old_session, session_data data) = 0;

    /// Does the same as find(id, session_access::touch) without returning the data. Returns false if no
    /// unexpired session has that id.
    virtual awaitable<bool> touch(std::string id) = 0;

    /// Touches the session and stores `worker` as its last worker: see session::set_last_worker. replace()
    /// keeps the last worker. The default implementation only calls touch(): sessions of such a backend have
    /// no last worker.
    virtual awaitable<bool> record_worker(std::string id, worker_id worker);

    /// Removes the session. Returns false if no unexpired session has that id.
    virtual awaitable<bool> remove(std::string id) = 0;

    /// Frees expired sessions, or a part of them. Looks at most at `most` sessions, so that other operations
    /// do not wait long. Has nothing to do if keys expire by themselves.
    virtual awaitable<session_sweep> sweep(std::size_t most) = 0;

    /// Returns the number of sessions and their memory.
    virtual awaitable<session_usage> usage() = 0;

    /// Registers `handler`. The backend calls it whenever it drops an expired session, with the time of
    /// expiry, on any thread; the handler neither blocks nor throws. on_expiry() is called once, before any
    /// other function. A backend whose keys expire by themselves need not call the handler; the default
    /// implementation does nothing.
    virtual void on_expiry(expiry_handler handler);

protected:
    session_backend() = default;
    session_backend(const session_backend&) = default;
    session_backend(session_backend&&) noexcept = default;
    session_backend& operator=(const session_backend&) = default;
    session_backend& operator=(session_backend&&) noexcept = default;
};

} // namespace skep
