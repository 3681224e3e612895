// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The code of skep::prometheus and skep::admin, which need prometheus-cpp, in lib/telemetry/README.md and
// lib/remote/README.md.

#include <skep/admin.hpp>
#include <skep/node_agent.hpp>
#include <skep/prometheus.hpp>
#include <skep/remote_pool.hpp>
#include <skep/skep.hpp>

#include <memory>

namespace telemetry_guide {

template <class Exposer>
void expose(skep::pool& pool, Exposer& exposer) {
    auto collector = std::make_shared<skep::prometheus_collector>(pool);
    exposer.RegisterCollectable(collector);
}

void show(boost::asio::any_io_executor executor, skep::pool& pool, skep::admin_options options) {
    const skep::admin_server admin(executor, pool, options); // or a remote_pool or pool_manager
}

void watch(boost::asio::any_io_executor executor, skep::remote_pool& nodes) {
    const skep::admin_server admin(executor, nodes);
    auto collector = std::make_shared<skep::prometheus_collector>(nodes);
}

void watch_node(boost::asio::any_io_executor executor, skep::pool& pool, skep::node_agent& agent) {
    skep::admin_options options;
    options.node = &agent;
    const skep::admin_server admin(executor, pool, options);
}

} // namespace telemetry_guide
