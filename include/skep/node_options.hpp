// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/link_options.hpp>
#include <skep/log.hpp>
#include <skep/nats_options.hpp>
#include <skep/pool_config.hpp>
#include <skep/time.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace skep {

/// Options of a node_agent.
struct SKEP_API node_options {
    nats_options nats; ///< the connection to the bus

    /// Clients see the nodes of their own domain. [A-Za-z0-9][A-Za-z0-9_-]*, at most 64 characters.
    std::string domain = "default";

    /// The name of the node, one of a kind in the domain. [A-Za-z0-9][A-Za-z0-9_-]*, at most 64 characters;
    /// empty: the host's name up to the first dot.
    std::string name;
    std::vector<std::string> pools; ///< names of the offered pools of a pool_manager; empty: all

    /// Interval at which the node tells its load, 50 ms..1 min, varied by 20 %. Clients take a node that is
    /// silent for three intervals for gone.
    duration beacon_interval = std::chrono::seconds(1);

    /// Calls of clients that may wait for each place of a pool, 0..100. The node refuses further calls, and
    /// clients send them to other nodes.
    double queue_per_place = 2;
    duration drain_timeout = std::chrono::seconds(30); ///< how long drain() lets calls finish, 0..24 h

    skep::log_level log_level = skep::log_level::warning; ///< of the node; its pools have their own
    skep::log_handler log_handler;                        ///< as in pool_config
    skep::log_format log_format = skep::log_format::text; ///< as in pool_config

    // Limits for clients.
    std::size_t links = 10'000;      ///< clients at a time, 1..1,000,000
    std::size_t memory = 512u << 20; ///< bytes for their input and for answers they do not take, 1 MiB..1 TiB
    limit_options limits;            ///< for the data between client and node; the pool's own apply as well
    link_options link;

    /// Reads the options from JSON, as pool_config::from_json() does.
    /// Throws error(errc::invalid_config) with all problems. Passwords and tokens are never shown.
    static node_options from_json(const boost::json::value& document);

    /// Returns the JSON Schema (draft 2020-12) for from_json().
    static boost::json::object json_schema();

    /// Checks each field and the rules between fields.
    /// Throws error(errc::invalid_config) with all problems, each with field, value and rule.
    void validate() const;
};

/// Returns the options as JSON for from_json(), with passwords.
SKEP_API boost::json::object to_json(const node_options& options);

} // namespace skep
