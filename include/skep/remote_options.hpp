// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/affinity.hpp>
#include <skep/export.hpp>
#include <skep/link_options.hpp>
#include <skep/log.hpp>
#include <skep/nats_options.hpp>
#include <skep/pool_config.hpp>
#include <skep/pool_thread.hpp>
#include <skep/time.hpp>
#include <skep/wait_mode.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace skep {

class event_bus;
class session_store;

/// Options of a remote_pool. Members that pool_config has too mean the same, with a node in place of a
/// worker.
struct SKEP_API remote_options {
    nats_options nats; ///< the connection to the bus

    /// Clients see the nodes of their own domain. [A-Za-z0-9][A-Za-z0-9_-]*, at most 64 characters.
    std::string domain = "default";
    std::string pool = "default"; ///< the nodes' pool that runs the calls; as pool_config::name
    std::string name;             ///< in errors, events and metrics, as pool_config::name; empty: `pool`

    /// The wait for a node with room. `timeout` is also the wait for the first node.
    queue_options queue{10'000, std::chrono::seconds(5)};
    duration request_timeout = std::chrono::seconds(60); ///< per call, 0..24 h; 0 = none
    stream_options stream;
    std::map<std::string, command_options, std::less<>> commands; ///< `batch` has no effect here
    retry_options retry;
    affinity_options affinity; ///< of sessions to nodes; the node's pool binds them to its workers
    std::shared_ptr<session_store> sessions;          ///< as in pool_config
    duration drain_timeout = std::chrono::seconds(5); ///< how long shutdown() lets calls finish, 0..24 h
    limit_options limits; ///< for the data between client and node; the node's own limits apply as well
    link_options link;

    std::shared_ptr<event_bus> events; ///< bus for the pool's events; null: the pool's own bus
    skep::log_level log_level = skep::log_level::warning; ///< as in pool_config
    skep::log_handler log_handler;                        ///< as in pool_config
    skep::log_format log_format = skep::log_format::text; ///< as in pool_config
    pool_thread thread = pool_thread::caller;             ///< the thread that runs the pool's work
    wait_mode wait = wait_mode::adaptive;                 ///< of the pool's own thread
    metrics_options metrics;
    tracing_options tracing;

    /// Reads the options from JSON, as pool_config::from_json() does.
    /// Throws error(errc::invalid_config) with all problems. Passwords and tokens are never shown.
    static remote_options from_json(const boost::json::value& document);

    /// Returns the JSON Schema (draft 2020-12) for from_json().
    static boost::json::object json_schema();

    /// Checks each field and the rules between fields.
    /// Throws error(errc::invalid_config) with all problems, each with field, value and rule.
    void validate() const;
};

/// Returns the options as JSON for from_json(), without handlers and stores, but with passwords.
SKEP_API boost::json::object to_json(const remote_options& options);

} // namespace skep
