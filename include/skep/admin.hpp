// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// A page for operators. Link skep::admin in addition to skep::skep.

#pragma once

#include <skep/admin_options.hpp>
#include <skep/export.hpp>
#include <skep/observed_node.hpp>
#include <skep/pool_manager.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace skep {

/// Returns the greatest number of descriptors that an admin_server with these options opens, including its
/// listening socket.
SKEP_API std::size_t descriptors_needed(const admin_options& options) noexcept;

/// Serves pools over HTTP, from construction until stop() or destruction:
///
///     GET /             a page that shows the pools live, and changes them if there is a token
///     GET /livez        200 as long as the service answers
///     GET /readyz       200 if every pool can serve a call now or once a worker has room, else 503; a pool
///                       that is also elsewhere can serve if one of the two can
///     GET /healthz      the same as /readyz
///     GET /metrics      for Prometheus; see to_families
///     GET /status.json  {"pools": [to_json(pool_metrics), ...]}, and "node": to_json(node_status) of a node
///     GET /events       the page's data as server-sent events
///     POST /pools/NAME/suspend, /resume, /restart, /resize ({"min": N, "max": N}), /memory,
///          /call ({"command": NAME, "args": {...}, "timeout_ms": 1..600000, default 60000}), and
///          /pools/NAME/workers/SLOT.GENERATION/suspend, /resume, /restart, /stacks;
///          with "Authorization: Bearer TOKEN". Of a remote_pool only /call: its workers are nodes.
///
/// A call answers with {"value": ..., "attachments": [sizes], "worker": ID, ...}, of at most 1 MiB, or with
/// the text of its error and the traceback of the worker. The call goes on if its client leaves.
///
/// /memory answers with {"proportional_bytes": sum, "template_bytes": N, "workers": {ID: bytes}}, in which
/// memory that processes share counts once: see proportional_bytes(). Workers cannot allocate memory while
/// they are measured, about a millisecond per GiB.
///
/// The server keeps the last 500 events and the last 200 kinds of faults of its pools for pages that are
/// opened later. It shows output of workers, ids of sessions, types of exceptions, and configurations without
/// arguments and values of environments. It drops a client that takes more than ten seconds to send a request
/// or to read an answer. It rejects a head of more than 8 KiB, a body of more than 4 KiB and a chunked body.
/// At most three quarters of the connections are for /events: probes always find room. On a loopback address
/// the server answers only requests for a loopback host, so that a web page cannot reach the server by the
/// page's own domain name.
///
/// Executor: the server runs on its own strand over the given executor. Thread safety: as for a pool.
/// Lifetime: destroy or stop the server before its pools; stop it if the pools run on another execution
/// context. Do not move the pools meanwhile. The server's execution context must outlive the server.
class SKEP_API admin_server {
public:
    /// Starts to listen, and serves one pool or remote_pool.
    /// Throws error(errc::invalid_config) if an option breaks its rule, or if the server cannot listen on
    /// address and port.
    admin_server(boost::asio::any_io_executor executor, observed_pool& one, admin_options options = {});

    /// Starts to listen, and serves all pools of a manager, and the remote_pools that are added to the
    /// manager. A remote_pool with the name of another pool is called NAME-elsewhere here. Otherwise the
    /// same. A pool may be added to the manager meanwhile, on the thread that runs `executor`, if it is a
    /// single thread; events of a remote_pool are kept if it was added before.
    admin_server(boost::asio::any_io_executor executor, pool_manager& all, admin_options options = {});

    /// Stops the server without waiting for its connections. The connections do not use the pools any more.
    ~admin_server();
    admin_server(const admin_server&) = delete;
    admin_server& operator=(const admin_server&) = delete;

    /// Returns the port that the server listens on.
    unsigned short port() const noexcept;

    /// Returns the URL of the page, for a log line: "http://127.0.0.1:8080/".
    std::string url() const;

    /// Closes all connections, and returns when the last connection has ended: the executor then has no work
    /// of the server. Requested changes of pools go on, on the executor of their pool. Idempotent. Not
    /// cancellable.
    boost::asio::awaitable<void> stop();

private:
    class core;

    std::shared_ptr<core> core_;
};

} // namespace skep
