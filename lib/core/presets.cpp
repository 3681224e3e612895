// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/presets.hpp"

#include "core/config_fields.hpp"

#include <chrono>

namespace skep {

using namespace std::chrono_literals;

namespace {

struct profile_timeouts {
    duration request;
    duration stream;
    duration queue;
};

profile_timeouts timeouts_of(timeout_profile profile) noexcept {
    switch (profile) {
    case timeout_profile::balanced:
    case timeout_profile::production: break;
    case timeout_profile::production_strict: return {1min, 5min, 5s};
    case timeout_profile::development:
    case timeout_profile::ml_inference: return {15min, 1h, 1min};
    case timeout_profile::batch: return {1h, 0s, 5min};
    }
    return {5min, 15min, 10s};
}

/// Applies the strategy to fields that the object does not set. Called after the fields are read, because it
/// depends on the threads.
void read_strategy(capacity_strategy strategy, pool_config& config, config_reader& reader) {
    const auto said = config;
    config.apply(strategy);
    config.capacity = reader.has("capacity") ? said.capacity : config.capacity;
    config.threads_per_worker =
        reader.has("threads_per_worker") ? said.threads_per_worker : config.threads_per_worker;
    config.pipeline_depth = reader.has("pipeline_depth") ? said.pipeline_depth : config.pipeline_depth;
    config.metrics.enabled = reader.has("metrics") ? said.metrics.enabled : config.metrics.enabled;
    const bool is_one = config.capacity <= 1 && config.threads_per_worker <= 1;
    if (strategy == capacity_strategy::profile && !is_one) {
        reader.reject("capacity_strategy", "\"profile\"",
                      "is one call at a time: leave out capacity and threads_per_worker");
    }
}

} // namespace

void read_fields(pool_config& config, config_reader& reader) {
    if (const auto profile = reader.preset<timeout_profile>("timeout_profile", timeout_profiles)) {
        config.apply(*profile);
    }
    const auto strategy = reader.preset<capacity_strategy>("capacity_strategy", capacity_strategies);
    visit_fields(config, reader);
    if (strategy) {
        read_strategy(*strategy, config, reader);
    }
}

pool_config& pool_config::apply(timeout_profile profile) {
    const auto limits = timeouts_of(profile);
    request_timeout = limits.request;
    stream.timeout = limits.stream;
    queue.timeout = limits.queue;
    return *this;
}

pool_config& pool_config::debugging() {
    workers = 1;
    min_ready = 1;
    scaling = {};
    pipeline_depth = 0;
    start.timeout = 1h;
    request_timeout = queue.timeout = stream.timeout = stream.idle_timeout = 0s;
    for (auto& [name, options] : commands) {
        options.timeout = options.queue_timeout = options.idle_timeout = std::nullopt;
    }
    heartbeat.enabled = health_check.enabled = false;
    recycle = {};
    crash_barrier.enabled = false;
    crash_barrier.poison_crashes = 0;
    cancel_grace = 1h;
    lease.leak_threshold = 0s;
    launch.environment.emplace("PYTHONBREAKPOINT", "skep.breakpoint");
    return *this;
}

pool_config& pool_config::apply(capacity_strategy strategy) {
    if (strategy == capacity_strategy::profile) {
        capacity = threads_per_worker = 1;
        pipeline_depth = 0;
        return *this;
    }
    capacity = threads_per_worker;
    metrics.enabled = metrics.enabled || strategy == capacity_strategy::hybrid;
    return *this;
}

} // namespace skep
