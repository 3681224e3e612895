// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/config.hpp"

#include <boost/json/object.hpp>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

/// A configuration in which every field may take any value of its own range, whatever the others are.
inline pool_config roomy() {
    auto config = runnable();
    config.workers = 10'000;
    config.scaling.min = 1;
    config.scaling.max = 10'000;
    config.restart.initial_backoff = 1ms;
    config.restart.max_backoff = 24h;
    config.crash_barrier.taint = 1ms;
    config.crash_barrier.max_taint = 24h;
    config.limits.frame_bytes = 1u << 30;
    config.limits.json_bytes = 1024;
    return config;
}

inline boost::json::object roomy_json() {
    return {{"launch", {{"program", "python3"}}},
            {"workers", 10'000},
            {"scaling", {{"min", 1}, {"max", 10'000}}},
            {"restart", {{"initial_backoff_ms", 1}, {"max_backoff_ms", 86'400'000}}},
            {"crash_barrier", {{"taint_ms", 1}, {"max_taint_ms", 86'400'000}}},
            {"limits", {{"frame_bytes", 1u << 30}, {"json_bytes", 1024}}}};
}

enum class unit { count, milliseconds };

/// The ranges as pool_config.hpp documents them.
struct range {
    std::string path;
    unit in;
    long long low, high;
    std::function<void(pool_config&, long long)> set;
    std::function<long long(const pool_config&)> get;
};

inline long long number_of(long long value) {
    return value;
}

/// An option that is not set lies below its range.
template <class Integer>
long long number_of(const std::optional<Integer>& value) {
    return value ? static_cast<long long>(*value) : -1;
}

template <class Field>
void assign(Field& field, long long value) {
    field = static_cast<Field>(value);
}
template <class Integer>
void assign(std::optional<Integer>& field, long long value) {
    field = static_cast<Integer>(value);
}

template <class Access>
range count(std::string path, long long low, long long high, Access access) {
    return {std::move(path),
            unit::count,
            low,
            high,
            [access](pool_config& config, long long value) { assign(access(config), value); },
            [access](const pool_config& config) {
                auto copy = config;
                return number_of(access(copy));
            }};
}

template <class Access>
range time(std::string path, duration low, duration high, Access access) {
    return {
        std::move(path),
        unit::milliseconds,
        low / 1ms,
        high / 1ms,
        [access](pool_config& config, long long value) { access(config) = std::chrono::milliseconds(value); },
        [access](const pool_config& config) {
            auto copy = config;
            return static_cast<long long>(access(copy) / 1ms);
        }};
}

// NOLINTNEXTLINE: one row per field
#define FIELD(path)                                                                                          \
    [](pool_config & c) -> auto& {                                                                           \
        return c.path;                                                                                       \
    }
#define COUNT(path, low, high) count(#path, low, high, FIELD(path))
#define TIME(path, low, high) time(#path, low, high, FIELD(path))

inline const std::vector<range>& ranges() {
    static const std::vector<range> all{
        COUNT(workers, 1, 10'000),
        COUNT(min_ready, 1, 10'000),
        COUNT(capacity, 1, 65'536),
        COUNT(threads_per_worker, 1, 1024),
        COUNT(pipeline_depth, 0, 65'536),
        COUNT(stream.window, 1, 65'536),
        COUNT(stream.window_bytes, 1024, 1 << 30),
        TIME(stream.timeout, 0s, 24h),
        TIME(stream.idle_timeout, 0s, 24h),
        TIME(initialization.before_first_worker_timeout, 1ms, 24h),
        TIME(initialization.after_end_timeout, 1ms, 1h),
        COUNT(start.batch_size, 1, 1000),
        TIME(start.batch_delay, 0s, 60s),
        TIME(start.timeout, 10ms, 1h),
        TIME(affinity.ttl, 1ms, 365 * 24h),
        COUNT(affinity.limit, 1, 10'000'000),
        TIME(lease.leak_threshold, 0s, 365 * 24h),
        COUNT(metrics.commands, 0, 1'000),
        COUNT(queue.limit, 0, 10'000'000),
        TIME(queue.timeout, 0s, 24h),
        TIME(request_timeout, 0s, 24h),
        TIME(cancel_grace, 0s, 1h),
        COUNT(retry.attempts, 1, 100),
        COUNT(retry.budget, 0, 1'000'000),
        COUNT(scaling.initial, 1, 10'000),
        COUNT(scaling.min, 1, 10'000),
        COUNT(scaling.max, 1, 10'000),
        TIME(scaling.interval, 10ms, 1h),
        TIME(scaling.target_queue_delay, 0s, 1h),
        TIME(scaling.cool_down, 0s, 24h),
        TIME(health_check.interval, 10ms, 24h),
        TIME(health_check.timeout, 1ms, 1h),
        COUNT(health_check.failures, 1, 100),
        TIME(health_check.retry_interval, 1ms, 1h),
        COUNT(health_check.error_streak, 0, 1'000'000),
        TIME(recycle.age, 0s, 10'000h),
        COUNT(recycle.calls, 0, 1'000'000'000'000),
        COUNT(recycle.soft_memory, 0, 1LL << 60),
        COUNT(recycle.hard_memory, 0, 1LL << 60),
        COUNT(recycle.max_recycling, 1, 1000),
        TIME(recycle.memory_interval, 10ms, 1h),
        TIME(crash_barrier.taint, 1ms, 24h),
        TIME(crash_barrier.max_taint, 1ms, 24h),
        COUNT(crash_barrier.poison_crashes, 0, 100),
        TIME(crash_barrier.poison_ttl, 1s, 24h),
        TIME(stop.stack_dump_timeout, 0s, 10s),
        COUNT(restart.limit, 1, 1'000'000),
        TIME(restart.window, 10ms, 24h),
        TIME(restart.open_time, 1ms, 24h),
        TIME(heartbeat.interval, 10ms, 1h),
        TIME(heartbeat.timeout, 10ms, 1h),
        COUNT(heartbeat.misses, 1, 100),
        TIME(heartbeat.initial_delay, 0s, 1h),
        TIME(stop.drain_timeout, 0s, 24h),
        TIME(stop.shutdown_grace, 0s, 1h),
        TIME(stop.term_grace, 0s, 1h),
        TIME(stop.reap_timeout, 10ms, 1h),
        TIME(restart.initial_backoff, 1ms, 1h),
        TIME(restart.max_backoff, 1ms, 24h),
        TIME(restart.stable_after, 0s, 24h),
        TIME(restart.safety_tick, 10ms, 1h),
        COUNT(restart.starts_per_tick, 1, 1000),
        COUNT(limits.frame_bytes, 1024, 1LL << 31),
        COUNT(limits.json_bytes, 1024, 1 << 30),
        COUNT(limits.json_depth, 4, 1000),
        COUNT(limits.tree_bytes, 64 << 10, 16LL << 30),
        COUNT(limits.tool_call_bytes, 1 << 10, 1LL << 31),
        COUNT(output.line_bytes, 80, 1 << 20),
        COUNT(output.lines_per_second, 0, 1'000'000),
        COUNT(output.tail_bytes, 0, 1 << 20),
        COUNT(shared.least, 4 << 10, 1LL << 30),
        COUNT(shared.least_result, 4 << 10, 1LL << 30),
        COUNT(shared.bytes, 1 << 20, 1LL << 40),
        COUNT(shared.regions, 1, 1'024),
    };
    return all;
}

#undef TIME
#undef COUNT
#undef FIELD

inline std::string shown(const range& field, long long value) {
    return std::to_string(value) + (field.in == unit::milliseconds ? " ms" : "");
}

inline std::string json_path(const range& field) {
    return field.path + (field.in == unit::milliseconds ? "_ms" : "");
}

/// roomy_json() with one more member at "group.key" or "key", in place of the same time in milliseconds.
inline boost::json::object with(const std::string& path, boost::json::value value) {
    auto document = roomy_json();
    const auto dot = path.find('.');
    auto* object = &document;
    if (dot != std::string::npos) {
        auto& group = document[path.substr(0, dot)];
        object = group.is_null() ? &group.emplace_object() : &group.as_object();
    }
    const auto key = dot == std::string::npos ? path : path.substr(dot + 1);
    object->erase(key + "_ms");
    (*object)[key] = std::move(value);
    return document;
}

} // namespace skep::test
