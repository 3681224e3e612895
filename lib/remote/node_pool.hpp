// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/hub_driver.hpp"
#include "remote/node_network.hpp"
#include "runtime/pool_context.hpp"
#include <skep/export.hpp>
#include <skep/pool.hpp>
#include <skep/remote_options.hpp>

#include <boost/asio/any_io_executor.hpp>

namespace skep {

/// Returns `config` for a pool whose workers are nodes: without what is for processes, and with as many
/// places at each node as the node offers. Calls wait for a node for config.queue.timeout.
/// Throws error(invalid_config).
pool_config config_of_nodes(pool_config config);

/// Makes a pool whose workers are the nodes that have the pool of `demand`, as many as there are.
/// `config`: from config_of_nodes().
pool make_node_pool(pool_context context, pool_config config, node_demand demand, bus_factory connect);

/// Makes the pool of a remote_pool. `options`: valid.
SKEP_API pool make_node_pool(asio::any_io_executor executor, const remote_options& options,
                             bus_factory connect);

} // namespace skep
