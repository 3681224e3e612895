// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What lib/telemetry/README.md quotes of skep::prometheus and skep::admin, which need prometheus-cpp.

#include <skep/admin.hpp>
#include <skep/prometheus.hpp>
#include <skep/skep.hpp>

#include <memory>

namespace telemetry_guide {

template <class Exposer>
void expose(skep::pool& pool, Exposer& exposer) {
    auto collector = std::make_shared<skep::prometheus_collector>(pool); // or a pool_manager
    exposer.RegisterCollectable(collector);
}

void show(boost::asio::any_io_executor executor, skep::pool& pool, skep::admin_options options) {
    const skep::admin_server admin(executor, pool, options); // or a pool_manager
}

} // namespace telemetry_guide
