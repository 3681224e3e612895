// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// What pools measure, for Prometheus. Needs the library skep::prometheus beside skep::skep.

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

class pool;
class pool_manager;

/// The metrics of pools, each family once, for a serializer of prometheus-cpp: names begin with skep_, the label `pool`
/// tells the pools apart; see lib/telemetry/README.md for what there is. Commands that have no figures of their own are
/// together under the label command="". From any thread.
SKEP_API std::vector<prometheus::MetricFamily> to_families(const std::vector<pool_metrics>& pools);

/// Adds pools to what a registry or exposer of prometheus-cpp shows:
///
///     auto collector = std::make_shared<skep::prometheus_collector>(pool);
///     exposer.RegisterCollectable(collector);
///
/// Thread-safety: Collect() may be called from any thread but those that run the pool's executor: it waits for that. There,
/// use `co_await pool.metrics()` and to_families().
/// Lifetime: to be destroyed before the pool, or manager, which is not to be moved meanwhile.
class SKEP_API prometheus_collector final : public prometheus::Collectable {
public:
    /// `timeout` is how long a scrape may wait for a pool whose executor is busy, 1 ms..1 min. Throws
    /// error(errc::invalid_config) if it is not.
    explicit prometheus_collector(pool& one, duration timeout = std::chrono::seconds(1));

    /// All pools of a manager, those that are added later included (which must not happen during a scrape).
    explicit prometheus_collector(pool_manager& all, duration timeout = std::chrono::seconds(1));

    /// Pools that did not answer in time are left out.
    std::vector<prometheus::MetricFamily> Collect() const override;

private:
    std::function<std::vector<pool*>()> pools_;
    duration timeout_;
};

} // namespace skep
