// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/call_fields.hpp"
#include <skep/pool_config.hpp>

#include <chrono>

namespace skep {

template <class Config, class Visitor>
void visit_self_healing(Config& config, Visitor& visit) {
    using namespace std::chrono_literals;
    visit.group("health_check", [&] {
        auto& health = config.health_check;
        visit.flag("enabled", health.enabled);
        visit.time("interval", health.interval, 10ms, 24h);
        visit.time("timeout", health.timeout, 1ms, 1h);
        visit.number("failures", health.failures, 1, 100);
        visit.time("retry_interval", health.retry_interval, 1ms, 1h);
        visit.text("command", health.command);
        visit.strings("failing_errors", health.failing_errors);
        visit.number("error_streak", health.error_streak, 0, 1'000'000);
    });
    visit.group("recycle", [&] {
        auto& recycle = config.recycle;
        visit.time("age", recycle.age, 0s, 10'000h);
        visit.number("calls", recycle.calls, 0, 1'000'000'000'000);
        visit.number("soft_memory", recycle.soft_memory, 0, 1LL << 60);
        visit.number("hard_memory", recycle.hard_memory, 0, 1LL << 60);
        visit.real("jitter", recycle.jitter, 0.0, 0.9);
        visit.number("max_recycling", recycle.max_recycling, 1, 1'000);
        visit.time("memory_interval", recycle.memory_interval, 10ms, 1h);
    });
    visit.group("crash_barrier", [&] {
        auto& barrier = config.crash_barrier;
        visit.flag("enabled", barrier.enabled);
        visit.strings("taint_on", barrier.taint_on);
        visit.time("taint", barrier.taint, 1ms, 24h);
        visit.time("max_taint", barrier.max_taint, 1ms, 24h);
        visit.number("poison_crashes", barrier.poison_crashes, 0, 100);
        visit.time("poison_ttl", barrier.poison_ttl, 1s, 24h);
    });
}

/// Visits every field of a pool_config that has a rule or a JSON form, with name, place and range.
/// Validation, from_json, to_json and the schema share this list, so that each covers all fields.
template <class Config, class Visitor>
void visit_fields(Config& config, Visitor& visit) {
    using namespace std::chrono_literals;
    visit.text("name", config.name);
    visit.group("launch", [&] {
        auto& launch = config.launch;
        visit.text("program", launch.program);
        visit.strings("args", launch.args);
        visit.choice("transport", launch.transport, {"socket", "stdio"});
        visit.strings("prefix", launch.prefix);
        visit.flag("remote_shell", launch.remote_shell);
        visit.lists("slot_args", launch.slot_args);
        visit.variables("environment", launch.environment);
        visit.lists_by_name("slot_environment", launch.slot_environment);
        visit.flag("inherit_environment", launch.inherit_environment);
        visit.path("working_directory", launch.working_directory);
        visit.flag("preload", launch.preload);
        visit.flag("preload_fallback", launch.preload_fallback);
    });
    visit.optional_number("workers", config.workers, 1, 10'000);
    visit.group("scaling", [&] {
        auto& scaling = config.scaling;
        visit.optional_number("initial", scaling.initial, 1, 10'000);
        visit.optional_number("min", scaling.min, 1, 10'000);
        visit.optional_number("max", scaling.max, 1, 10'000);
        visit.real("up", scaling.up, 0.0, 1.0);
        visit.real("down", scaling.down, 0.0, 1.0);
        visit.time("interval", scaling.interval, 10ms, 1h);
        visit.time("target_queue_delay", scaling.target_queue_delay, 0s, 1h);
        visit.time("cool_down", scaling.cool_down, 0s, 24h);
    });
    visit.number("min_ready", config.min_ready, 1, 10'000);
    visit.number("capacity", config.capacity, 1, 65'536);
    visit.number("threads_per_worker", config.threads_per_worker, 1, 1'024);
    visit.choice("thread_safety_checks", config.thread_safety_checks, {"off", "report", "strict"});
    visit.optional_number("pipeline_depth", config.pipeline_depth, 0, 65'536);
    visit.choice("schedule", config.schedule, {"least_loaded", "round_robin", "lifo", "fifo", "pack"});
    visit.group("start", [&] {
        visit.number("batch_size", config.start.batch_size, 1, 1'000);
        visit.time("batch_delay", config.start.batch_delay, 0s, 60s);
        visit.time("timeout", config.start.timeout, 10ms, 1h);
    });
    visit.group("initialization", [&] {
        auto& hooks = config.initialization;
        visit.time("before_first_worker_timeout", hooks.before_first_worker_timeout, 1ms, 24h);
        visit.time("after_end_timeout", hooks.after_end_timeout, 1ms, 1h);
    });
    visit_call_fields(config, visit);
    visit.group("lease", [&] { visit.time("leak_threshold", config.lease.leak_threshold, 0s, 365 * 24h); });
    visit.time("cancel_grace", config.cancel_grace, 0s, 1h);
    visit.group("heartbeat", [&] {
        auto& heartbeat = config.heartbeat;
        visit.flag("enabled", heartbeat.enabled);
        visit.time("interval", heartbeat.interval, 10ms, 1h);
        visit.time("timeout", heartbeat.timeout, 10ms, 1h);
        visit.number("misses", heartbeat.misses, 1, 100);
        visit.time("initial_delay", heartbeat.initial_delay, 0s, 1h);
        visit.flag("dependent", heartbeat.dependent);
    });
    visit_self_healing(config, visit);
    visit.group("stop", [&] {
        visit.time("drain_timeout", config.stop.drain_timeout, 0s, 24h);
        visit.time("shutdown_grace", config.stop.shutdown_grace, 0s, 1h);
        visit.time("term_grace", config.stop.term_grace, 0s, 1h);
        visit.time("reap_timeout", config.stop.reap_timeout, 10ms, 1h);
        visit.time("stack_dump_timeout", config.stop.stack_dump_timeout, 0s, 10s);
    });
    visit.group("restart", [&] {
        auto& restart = config.restart;
        visit.time("initial_backoff", restart.initial_backoff, 1ms, 1h);
        visit.time("max_backoff", restart.max_backoff, 1ms, 24h);
        visit.real("jitter", restart.jitter, 0.0, 1.0);
        visit.time("stable_after", restart.stable_after, 0s, 24h);
        visit.time("safety_tick", restart.safety_tick, 10ms, 1h);
        visit.number("starts_per_tick", restart.starts_per_tick, 1, 1'000);
        visit.optional_number("limit", restart.limit, 1, 1'000'000);
        visit.time("window", restart.window, 10ms, 24h);
        visit.time("open_time", restart.open_time, 1ms, 24h);
    });
    visit.group("output", [&] {
        visit.number("line_bytes", config.output.line_bytes, 80, 1 << 20);
        visit.number("lines_per_second", config.output.lines_per_second, 0, 1'000'000);
        visit.number("tail_bytes", config.output.tail_bytes, 0, 1 << 20);
    });
    visit.group("shared", [&] {
        visit.flag("enabled", config.shared.enabled);
        visit.number("least", config.shared.least, 4 << 10, 1LL << 30);
        visit.number("least_result", config.shared.least_result, 4 << 10, 1LL << 30);
        visit.number("bytes", config.shared.bytes, 1 << 20, 1LL << 40);
        visit.number("regions", config.shared.regions, 1, 1'024);
        visit.flag("show_results", config.shared.show_results);
    });
}

} // namespace skep
