// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// Metrics of pools for Prometheus. Needs the library skep::prometheus beside skep::skep.

#pragma once

#include <skep/export.hpp>
#include <skep/pool_metrics.hpp>
#include <skep/time.hpp>

#include <chrono>
#include <functional>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <vector>

namespace skep {

class observed_pool;
class pool_manager;
struct shown_pool;

/// Returns the metrics of pools for a serializer of prometheus-cpp, each family once. Names begin with skep_;
/// the label `pool` names the pool. lib/telemetry/README.md lists the metrics. Commands without figures of
/// their own share the label command="".
/// Thread safety: may be called from any thread.
SKEP_API std::vector<prometheus::MetricFamily> to_families(const std::vector<pool_metrics>& pools);

/// Adds the metrics of pools to a registry or exposer of prometheus-cpp:
///
///     auto collector = std::make_shared<skep::prometheus_collector>(pool);
///     exposer.RegisterCollectable(collector);
///
/// Thread safety: Collect() waits for the executor of the pool, so it must not run on a thread of that
/// executor. Any other thread may call it. On a thread of the executor, use `co_await pool.metrics()` and
/// to_families().
/// Lifetime: destroy the collector before the pool or manager. Do not move the pool or manager meanwhile.
class SKEP_API prometheus_collector final : public prometheus::Collectable {
public:
    /// Collects from one pool or remote_pool.
    /// `timeout`: the longest wait of a scrape for a pool with a busy executor, 1 ms..1 min.
    /// Throws error(errc::invalid_config) if `timeout` is out of range.
    explicit prometheus_collector(observed_pool& one, duration timeout = std::chrono::seconds(1));

    /// Collects from all pools of a manager, including remote_pools and pools that are added later. Do not
    /// add a pool during a scrape. A remote_pool with the name of another pool has the label
    /// pool="NAME-elsewhere".
    explicit prometheus_collector(pool_manager& all, duration timeout = std::chrono::seconds(1));

    /// Returns the metrics. Leaves out pools that did not answer within the timeout.
    std::vector<prometheus::MetricFamily> Collect() const override;

private:
    std::function<std::vector<shown_pool>()> pools_;
    duration timeout_;
};

} // namespace skep
