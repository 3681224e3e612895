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

/// Address and identity of the Redis server, and limits for waiting operations.
struct redis_options {
    /// Reads "redis://USER:PASSWORD@HOST:PORT/DATABASE"; "rediss" selects TLS. All parts except scheme and
    /// host are optional. User and password are percent-encoded, an IPv6 address is in brackets.
    /// Throws error(errc::invalid_config) with the part and the rule; the text quotes no part of the URL.
    SKEP_API static redis_options from_url(std::string_view url);

    std::string host = "127.0.0.1"; ///< name or address, 1..255 bytes; ignored with a unix_socket
    unsigned port = 6379;           ///< 1..65,535; ignored with a unix_socket
    std::string unix_socket; ///< path of the server's Unix socket, at most 107 bytes; empty: host and port
    std::string username;    ///< empty: the server's default user; otherwise a password is required
    std::string password;    ///< empty: no authentication; sent in clear text without TLS
    unsigned database = 0;   ///< number of the database, 0..65,535; the server may allow fewer

    /// Uses TLS (1.2 or later). Before the backend sends a password or data, the server must present a
    /// certificate for its name, signed by a trusted authority.
    bool tls = false;
    std::string tls_server_name;      ///< name expected in the certificate; empty: host
    std::string tls_ca_file;          ///< PEM, the trusted authorities; empty: the system's
    std::string tls_certificate_file; ///< PEM, for a server that requires it (tls-auth-clients); empty: none
    std::string tls_key_file;         ///< PEM, the key of that certificate

    /// Prefix of every key, 1..128 bytes. Services with the same prefix share their sessions.
    std::string prefix = "skep";

    /// Limit for resolving the host, connecting and authenticating, 1 ms..10 min.
    duration connect_timeout = std::chrono::seconds(5);

    /// Limit for each operation, from sending until the answer, 1 ms..10 min.
    duration operation_timeout = std::chrono::seconds(5);

    /// Operations that may wait for the server at a time, 1..1,000,000; further operations fail at once.
    std::size_t waiting_limit = 10'000;

    /// Bytes of all waiting operations together, 1 KiB..1 GiB; further operations fail at once. A single
    /// operation may always wait.
    std::size_t waiting_bytes = 64u << 20;

    /// Size of a session as JSON, 1 KiB..256 MiB. A larger session is not stored (errc::invalid_session) and
    /// not read. A reply that is larger by more than 4 KiB ends the connection.
    std::size_t session_bytes = 8u << 20;
};

/// Keeps the sessions of a session_store in a Redis server (5.0 or later; not a cluster):
///
///     auto backend = std::make_shared<skep::redis_sessions>(context.get_executor(), skep::redis_options());
///     skep::session_store store(skep::session_options(), backend);
///
/// Keys: a session is a hash, PREFIX:session:ID, holding JSON in clear text. Redis itself expires the hash,
/// by the server's clock, to the millisecond. PREFIX:index lists the sessions by expiry time; the quota is
/// exact across all stores with the same prefix. PREFIX:version holds the last version. Atomic operations are
/// scripts. The server must not evict keys (maxmemory-policy noeviction): otherwise the quota counts evicted
/// sessions.
///
/// Connection: all operations share one connection, and are pipelined. The first operation makes the
/// connection. After a loss, the next operation makes a new connection, at least 100 ms after the last
/// attempt; the operation waits until then. An operation in progress fails when the connection is lost, and
/// may have taken effect. Without operations in progress, the executor has no work. The cancellation of the
/// last operation closes the connection, and so does the destructor. The look-up of a host's name runs on
/// Asio's resolver thread, and cannot be interrupted.
///
/// Limits: memory and time are bounded regardless of the server's behaviour: by the limits of redis_options,
/// by 64 elements and 4 levels per reply, and by the timeouts.
///
/// Errors: each operation throws error(errc::session_backend_failed) if the server is unreachable, does not
/// answer in time, ends the connection, refuses the operation or breaks a limit, or if too many operations
/// wait already. The text names operation and cause, without data and password. insert() and replace() throw
/// error(errc::invalid_session) for data that JSON cannot represent (numbers that are not finite), that has
/// more than 200 levels, or that exceeds session_bytes.
/// Cancellation (terminal): ends the wait with error(errc::cancelled). A command that was already sent may
/// still take effect; an unsent command never does.
/// Executor: an operation continues on its caller's executor. The connection runs on a strand of the
/// constructor's executor.
/// Thread safety: every function may be called from any thread, at any time.
/// Lifetime: the execution context must outlive the backend. The backend must outlive every operation;
/// session_store ensures that.
class SKEP_API redis_sessions final : public session_backend {
public:
    /// Reads the TLS files; does not connect yet.
    /// Throws error(errc::invalid_config) with field, value (never the password) and rule.
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

    /// Removes expired sessions from the index. insert() does so as well, up to 100 sessions at a time.
    awaitable<session_sweep> sweep(std::size_t most) override;

    /// Returns the usage of all services together; `expired` counts only the sessions that this backend
    /// removed from the index.
    awaitable<session_usage> usage() override;

private:
    struct state;

    std::unique_ptr<state> state_;
};

} // namespace skep
