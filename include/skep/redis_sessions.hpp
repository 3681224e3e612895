// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// Sessions that several services share, in Redis. Needs the library skep::redis beside skep::skep.

#pragma once

#include <skep/awaitable.hpp>
#include <skep/export.hpp>
#include <skep/session.hpp>
#include <skep/session_backend.hpp>
#include <skep/time.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace skep {

/// Where the Redis server is, and how long to wait for it.
struct redis_options {
    std::string host = "127.0.0.1"; ///< name or address, 1..255 bytes; of no interest with a unix_socket
    unsigned port = 6379;           ///< 1..65,535; likewise
    std::string unix_socket; ///< path of the server's Unix socket, at most 107 bytes; empty: host and port
    std::string username;    ///< empty: the server's default user; else a password is needed as well
    std::string password;    ///< empty: no authentication
    unsigned database = 0;   ///< number of the database, 0..65,535; the server may allow fewer

    /// What the name of every key begins with, 1..128 bytes. Services with the same prefix share their sessions.
    std::string prefix = "skep";

    /// For looking up the host, connecting and authenticating, 1 ms..10 min.
    duration connect_timeout = std::chrono::seconds(5);

    /// From when an operation is sent to the server on until its answer is there, 1 ms..10 min.
    duration operation_timeout = std::chrono::seconds(5);
};

/// Keeps sessions in a Redis server (5.0 or later; not a cluster), for a session_store:
///
///     auto backend = std::make_shared<skep::redis_sessions>(context.get_executor(), skep::redis_options());
///     skep::session_store store(skep::session_options(), backend);
///
/// A session is a hash, PREFIX:session:ID, that Redis itself lets expire, by the server's clock and to the millisecond.
/// What has to be atomic is a script. The quota is exact for all stores that use the prefix: PREFIX:index lists the
/// sessions by the time of their end. PREFIX:version holds the last version. Sessions are JSON there, in clear text. The
/// server is not to evict keys on its own account (maxmemory-policy noeviction), or the quota counts what has gone.
///
/// All operations share one connection, and none waits for another's answer. It is made by the first operation, and
/// again by the next one after it was lost; an operation that was under way fails then, and may have been done.
/// Nothing keeps the executor at work while no operation is under way. The host is looked up on the thread that Asio has
/// for that.
///
/// Errors: each operation throws error(errc::session_backend_failed) when the server cannot be reached, does not answer in
/// time, ends the connection or refuses the operation; the text names operation and cause, and neither data nor
/// password. insert and replace throw error(errc::invalid_session) for data that JSON cannot hold: numbers that are not
/// finite, and more than 200 levels.
/// Thread-safety: every function may be called from any thread, at any time.
/// Lifetime: the execution context outlives the backend, and this every operation (session_store sees to that).
/// Executor: an operation continues on its caller's; the connection runs on a strand of the constructor's.
/// Cancellation (terminal) ends the wait by error(errc::cancelled). What was sent by then is done all the same; what was
/// not never will be.
class SKEP_API redis_sessions final : public session_backend {
public:
    /// Does not connect yet. Throws error(errc::invalid_config), naming field, value (but of the password) and rule.
    redis_sessions(const boost::asio::any_io_executor& executor, redis_options options);
    ~redis_sessions() override;
    redis_sessions(const redis_sessions&) = delete;
    redis_sessions& operator=(const redis_sessions&) = delete;

    awaitable<session_insertion> insert(std::string id, session_data data, session::wall_time created_at,
                                        std::size_t quota) override;
    awaitable<std::optional<session>> find(std::string id, session_access access) override;
    awaitable<session_replacement> replace(session seen, session_data data) override;
    awaitable<bool> touch(std::string id) override;
    awaitable<bool> remove(std::string id) override;

    /// Takes expired sessions off the index; insert does so as well, up to 100 at a time.
    awaitable<session_sweep> sweep(std::size_t most) override;

    /// Of all services, but for `expired`: those that this backend took off the index.
    awaitable<session_usage> usage() override;

private:
    struct state;

    std::unique_ptr<state> state_;
};

} // namespace skep
