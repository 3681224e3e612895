// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// A page for operators. Needs the library skep::admin beside skep::skep.

#pragma once

#include <skep/export.hpp>
#include <skep/pool_manager.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace skep {

/// Where an admin_server listens, and what it allows.
struct admin_options {
    /// An IP address of this machine. On any but a loopback address everybody who reaches it sees everything.
    std::string address = "127.0.0.1";
    unsigned short port = 0; ///< 0: one that is free; see admin_server::port

    /// Who knows it may restart, suspend, resume and resize: 16..256 visible ASCII characters. Empty: nobody may. It
    /// travels as it is: put TLS in front of what is not on this machine.
    std::string token;

    /// At a time, 1..10,000. A further connection takes the place of the connection that has waited longest for its client,
    /// be it for a whole request or for the client to take an answer. If each has a request that is being answered, the new
    /// connection waits for a place.
    std::size_t connections = 256;
};

/// The descriptors that an admin_server with these options opens at most, its listening socket included.
SKEP_API std::size_t descriptors_needed(const admin_options& options) noexcept;

/// Shows pools over HTTP, from its construction until it is stopped or destroyed:
///
///     GET /             a page that shows the pools live, and changes them if there is a token
///     GET /livez        200 as long as the service answers
///     GET /readyz       200 if every pool could serve a call now or once a worker has room; 503 names those that could not
///     GET /healthz      the same, by the name that other probes know
///     GET /metrics      for Prometheus; see to_families
///     GET /status.json  {"pools": [to_json(pool_metrics), ...]}
///     GET /events       what the page is fed with, as server-sent events
///     POST /pools/NAME/suspend, /resume, /restart, /resize ({"min": N, "max": N}), and
///          /pools/NAME/workers/SLOT.GENERATION/suspend, /resume, /restart, with "Authorization: Bearer TOKEN"
///
/// It shows what workers print, and ids of sessions. A client that is slow, or says nothing for ten seconds, is dropped. A
/// head of more than 8 KiB, a body of more than 4 KiB and a body in chunks are refused. At most three quarters of the
/// connections are for /events: probes always find room. On a loopback address only requests for a loopback host are
/// answered, so that no web page reaches it by a name of its own.
///
/// Executor: runs on a strand of its own over the given executor. Thread safety: as of a pool.
/// Lifetime: to be destroyed, or stopped, before the pools that it shows, which are not to be moved meanwhile; if they run
/// on another execution context, to be stopped. Its own context must outlive it, as it must a pool.
class SKEP_API admin_server {
public:
    /// Listens from now on. Throws error(errc::invalid_config) if an option breaks its rule, or nothing can listen there.
    admin_server(boost::asio::any_io_executor executor, pool& one, admin_options options = {});

    /// The same for all pools of a manager. One more may be added on the thread that runs `executor`, if that is one.
    admin_server(boost::asio::any_io_executor executor, pool_manager& all, admin_options options = {});

    /// Ends it, without waiting for its connections: they touch no pool any more.
    ~admin_server();
    admin_server(const admin_server&) = delete;
    admin_server& operator=(const admin_server&) = delete;

    /// Where it listens.
    unsigned short port() const noexcept;

    /// "http://127.0.0.1:8080/": for a log line.
    std::string url() const;

    /// Closes every connection, and returns when none is left: the executor has no work of the server's then. Changes that
    /// were asked for go on, on the executor of their pool. Idempotent; not cancellable.
    boost::asio::awaitable<void> stop();

private:
    class core;

    std::shared_ptr<core> core_;
};

} // namespace skep
