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

/// Whether a read of a session is a sign of its life.
enum class session_access {
    look, ///< it is not: the session expires when it would have
    touch ///< its idle time begins anew
};

/// What has become of an attempt to insert a session.
struct session_insertion {
    std::optional<session> stored; ///< the new session, or the one there was; none: the quota is exceeded
    bool is_new = false;           ///< whether there was none of that id
    std::size_t count = 0;         ///< sessions that the backend holds now, as far as it knows
};

/// What has become of an attempt to replace a session's data.
struct session_replacement {
    std::optional<session> stored; ///< as it is now; none: nothing was changed
    bool is_gone = false;          ///< there is no such session any more; else another was faster
};

/// What a part of a clean-up has come to.
struct session_sweep {
    std::size_t removed = 0; ///< sessions that had expired
    bool is_done = false;    ///< there are no more of them
};

/// What a backend holds. Those that have expired and have not been swept yet are included.
struct session_usage {
    std::size_t count = 0;     ///< sessions
    std::uint64_t expired = 0; ///< sessions that it has dropped since it was created because they had expired
    std::size_t memory_bytes = 0; ///< about what they take in this process
};

/// Where a session_store keeps its sessions: in this process by default. A remote one is a key-value store whose keys
/// expire by themselves, with an atomic compare-and-swap: a script, or a transaction that watches the key.
///
/// Expiry: a session has expired once it has not been accessed for longer than its ttl. From that moment on no function
/// finds it, whether or not it still takes memory. The backend's clock decides; it is monotonic.
///
/// Thread-safety: every function may be called from any thread, at any time.
/// Lifetime: the store keeps the backend alive until the last of its own operations has ended.
/// Executor: the caller's.
/// Cancellation: a function that waits ends its wait on cancellation (terminal) by throwing error(errc::cancelled);
/// what it was to do may then have been done.
/// Errors: whatever else a function throws ends the operation of the store, whose caller gets it; it is to be a
/// skep::error.
class SKEP_API session_backend {
public:
    /// What every function returns, as Asio's co_spawn and `co_await` take it.
    template <class T>
    using awaitable = boost::asio::awaitable<T, boost::asio::any_io_executor>;
    /// What on_expiry() is given.
    using expiry_handler = std::function<void(const std::string& id, time_point expiry_time)>;

    virtual ~session_backend();

    /// Stores a new session, unless there is one of that id, which is then touched and returned instead. Refuses a new
    /// one where there are `quota` or more; those that expired more than a second ago do not count. `data` has a ttl.
    virtual awaitable<session_insertion> insert(std::string id, session_data data,
                                                session::wall_time created_at, std::size_t quota) = 0;

    /// The session, with its version; none if there is none or it has expired.
    virtual awaitable<std::optional<session>> find(std::string id, session_access access) = 0;

    /// Has the session hold `data`, and touches it, if its version is still that of `old_session`; else does nothing. It then
    /// has a new version, which no session of that id ever had before, not even one that is gone.
    virtual awaitable<session_replacement> replace(session old_session, session_data data) = 0;

    /// find(id, session_access::touch), for who does not want to know what is in it. False if there is none.
    virtual awaitable<bool> touch(std::string id) = 0;

    /// touch() that keeps `worker` as the session's last one: see session::set_last_worker. replace() does not change it.
    /// The default is touch() alone: sessions of such a backend have no last worker.
    virtual awaitable<bool> record_worker(std::string id, worker_id worker);

    /// False if there is none, or it has expired.
    virtual awaitable<bool> remove(std::string id) = 0;

    /// Gives back what expired sessions take, or a part of them: it looks at `most` sessions at most, so that others
    /// are not kept waiting. Nothing to do where keys expire by themselves.
    virtual awaitable<session_sweep> sweep(std::size_t most) = 0;

    /// How many sessions there are now, and what they take.
    virtual awaitable<session_usage> usage() = 0;

    /// Has `handler` called whenever a session has been dropped, which had expired at that time, on whichever thread that is
    /// done; it does not block or throw. Called once, before any other function. One whose keys expire by themselves need
    /// not do it; the default does nothing.
    virtual void on_expiry(expiry_handler handler);

protected:
    session_backend() = default;
    session_backend(const session_backend&) = default;
    session_backend(session_backend&&) noexcept = default;
    session_backend& operator=(const session_backend&) = default;
    session_backend& operator=(session_backend&&) noexcept = default;
};

} // namespace skep
