// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>

#include <chrono>

namespace skep {

/// Every field of a pool_config that has a rule or a JSON form, told once: name, place and range. Validation
/// and from_json are both visitors of this list, so that neither can forget a field.
template <class Config, class Visitor>
void visit_fields(Config& config, Visitor& visit) {
    using namespace std::chrono_literals;
    visit.text("name", config.name);
    visit.group("launch", [&] {
        auto& launch = config.launch;
        visit.text("program", launch.program);
        visit.strings("args", launch.args);
        visit.variables("environment", launch.environment);
        visit.flag("inherit_environment", launch.inherit_environment);
        visit.path("working_directory", launch.working_directory);
    });
    visit.number("workers", config.workers, 0, 10'000);
    visit.number("min_ready", config.min_ready, 1, 10'000);
    visit.number("capacity", config.capacity, 1, 65'536);
    visit.number("pipeline_depth", config.pipeline_depth, 0, 65'536);
    visit.choice("schedule", config.schedule, {"least_loaded", "round_robin", "lifo", "fifo"});
    visit.group("start", [&] {
        visit.number("batch_size", config.start.batch_size, 1, 1'000);
        visit.time("batch_delay", config.start.batch_delay, 0s, 60s);
        visit.time("timeout", config.start.timeout, 10ms, 1h);
    });
    visit.group("queue", [&] {
        visit.number("limit", config.queue.limit, 0, 10'000'000);
        visit.time("timeout", config.queue.timeout, 0s, 24h);
    });
    visit.time("request_timeout", config.request_timeout, 0s, 24h);
    visit.time("cancel_grace", config.cancel_grace, 0s, 1h);
    visit.number("max_attempts", config.max_attempts, 1, 100);
    visit.group("heartbeat", [&] {
        auto& heartbeat = config.heartbeat;
        visit.flag("enabled", heartbeat.enabled);
        visit.time("interval", heartbeat.interval, 10ms, 1h);
        visit.time("timeout", heartbeat.timeout, 10ms, 1h);
        visit.number("misses", heartbeat.misses, 1, 100);
        visit.time("initial_delay", heartbeat.initial_delay, 0s, 1h);
        visit.flag("dependent", heartbeat.dependent);
    });
    visit.group("stop", [&] {
        visit.time("drain", config.stop.drain, 0s, 24h);
        visit.time("ask", config.stop.ask, 0s, 1h);
        visit.time("grace", config.stop.grace, 0s, 1h);
        visit.time("reap", config.stop.reap, 10ms, 1h);
    });
    visit.group("restart", [&] {
        auto& restart = config.restart;
        visit.time("initial_backoff", restart.initial_backoff, 1ms, 1h);
        visit.time("max_backoff", restart.max_backoff, 1ms, 24h);
        visit.real("jitter", restart.jitter, 0.0, 1.0);
        visit.time("stable_after", restart.stable_after, 0s, 24h);
        visit.time("safety_tick", restart.safety_tick, 10ms, 1h);
        visit.number("starts_per_tick", restart.starts_per_tick, 1, 1'000);
    });
    visit.group("limits", [&] {
        visit.number("frame_bytes", config.limits.frame_bytes, 1 << 10, 1 << 30);
        visit.number("json_bytes", config.limits.json_bytes, 1 << 10, 1 << 30);
        visit.number("json_depth", config.limits.json_depth, 4, 1'000);
        visit.number("tree_bytes", config.limits.tree_bytes, 64 << 10, 16LL << 30);
    });
    visit.group("output", [&] {
        visit.number("line_bytes", config.output.line_bytes, 80, 1 << 20);
        visit.number("lines_per_second", config.output.lines_per_second, 0, 1'000'000);
        visit.number("tail_bytes", config.output.tail_bytes, 0, 1 << 20);
    });
    visit.choice("log", config.log, {"debug", "info", "warning", "error", "off"});
}

} // namespace skep
