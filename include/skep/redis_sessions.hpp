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
#include <string_view>

namespace skep {

/// Where the Redis server is, how to be sure that it is the one, and what may wait for it.
struct redis_options {
    /// From "redis://USER:PASSWORD@HOST:PORT/DATABASE", where "rediss" asks for TLS and all but scheme and host may be left
    /// out. A user and a password are percent-encoded, an IPv6 address is in brackets. Throws error(errc::invalid_config),
    /// whose text names the part and the rule, and quotes nothing.
    SKEP_API static redis_options from_url(std::string_view url);

    std::string host = "127.0.0.1"; ///< name or address, 1..255 bytes; of no interest with a unix_socket
    unsigned port = 6379;           ///< 1..65,535; likewise
    std::string unix_socket; ///< path of the server's Unix socket, at most 107 bytes; empty: host and port
    std::string username;    ///< empty: the server's default user; else a password is needed as well
    std::string password;    ///< empty: no authentication; in clear text on its way, but for TLS
    unsigned database = 0;   ///< number of the database, 0..65,535; the server may allow fewer

    /// Speaks TLS (1.2 or later). The server must show a certificate of its name, signed by an authority that is trusted,
    /// before it is told anything: a password, or data.
    bool tls = false;
    std::string tls_server_name;      ///< expected in the certificate; empty: host
    std::string tls_ca_file;          ///< PEM, the authorities to trust; empty: those of the system
    std::string tls_certificate_file; ///< PEM, shown to a server that asks (tls-auth-clients); empty: none
    std::string tls_key_file;         ///< PEM, the key of that certificate

    /// What the name of every key begins with, 1..128 bytes. Services with the same prefix share their sessions.
    std::string prefix = "skep";

    /// For looking up the host, connecting and authenticating, 1 ms..10 min.
    duration connect_timeout = std::chrono::seconds(5);

    /// From when an operation is sent to the server on until its answer is there, 1 ms..10 min.
    duration operation_timeout = std::chrono::seconds(5);

    /// Operations that may wait for the server at a time, 1..1,000,000; more fail at once.
    std::size_t waiting_limit = 10'000;

    /// Bytes that these may take together, 1 KiB..1 GiB; likewise. One operation may always wait.
    std::size_t waiting_bytes = 64u << 20;

    /// What a session may take as JSON, 1 KiB..256 MiB. A larger one is neither stored (errc::invalid_session) nor read. A
    /// reply of more than that and 4 KiB ends the connection.
    std::size_t session_bytes = 8u << 20;
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
/// again by the next one after it was lost, but no sooner than 100 ms after the last time: the operation waits until then.
/// One that was under way fails, and may have been done.
/// Nothing keeps the executor at work while no operation is under way; the last one that is cancelled, and the destructor,
/// close the connection. A host's name is looked up on the thread that Asio has for that, which cannot be interrupted.
///
/// Whatever the server sends or withholds, memory and time are bounded: by the limits of redis_options, by 64 elements and
/// 4 levels a reply, and by the timeouts.
///
/// Errors: each operation throws error(errc::session_backend_failed) when the server cannot be reached, does not answer in
/// time, ends the connection, refuses the operation or breaks a limit, and when too many operations wait already; the text
/// names operation and cause, and neither data nor password. insert and replace throw error(errc::invalid_session) for data
/// that JSON cannot hold: numbers that are not finite, and more than 200 levels; and for more than session_bytes.
/// Thread-safety: every function may be called from any thread, at any time.
/// Lifetime: the execution context outlives the backend, and this every operation (session_store sees to that).
/// Executor: an operation continues on its caller's; the connection runs on a strand of the constructor's.
/// Cancellation (terminal) ends the wait by error(errc::cancelled). What was sent by then may be done all the same; what was
/// not never will be.
class SKEP_API redis_sessions final : public session_backend {
public:
    /// Reads the files of TLS, and does not connect yet. Throws error(errc::invalid_config), naming field, value (but of the
    /// password) and rule.
    redis_sessions(const boost::asio::any_io_executor& executor, redis_options options);
    ~redis_sessions() override;
    redis_sessions(const redis_sessions&) = delete;
    redis_sessions& operator=(const redis_sessions&) = delete;

    awaitable<session_insertion> insert(std::string id, session_data data, session::wall_time created_at,
                                        std::size_t quota) override;
    awaitable<std::optional<session>> find(std::string id, session_access access) override;
    awaitable<session_replacement> replace(session old_session, session_data data) override;
    awaitable<bool> touch(std::string id) override;
    awaitable<bool> record_worker(std::string id, worker_id worker) override;
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
