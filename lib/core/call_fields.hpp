// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <chrono>

namespace skep {

template <class Options, class Visitor>
void visit_limits(Options& limits, Visitor& visit) {
    visit.number("frame_bytes", limits.frame_bytes, 1 << 10, 1LL << 31);
    visit.number("json_bytes", limits.json_bytes, 1 << 10, 1 << 30);
    visit.number("json_depth", limits.json_depth, 4, 1'000);
    visit.number("tree_bytes", limits.tree_bytes, 64 << 10, 16LL << 30);
    visit.number("tool_call_bytes", limits.tool_call_bytes, 1 << 10, 1LL << 31);
}

template <class Options, class Visitor>
void visit_log(Options& options, Visitor& visit) {
    visit.choice("log_level", options.log_level, {"debug", "info", "warning", "error", "off"});
    visit.choice("log_format", options.log_format, {"text", "json"});
}

/// Visits the fields of calls, their limits and records, which pools of processes and of nodes have in
/// common: see visit_fields().
template <class Config, class Visitor>
void visit_call_fields(Config& config, Visitor& visit) {
    using namespace std::chrono_literals;
    visit.group("queue", [&] {
        visit.number("limit", config.queue.limit, 0, 10'000'000);
        visit.time("timeout", config.queue.timeout, 0s, 24h);
    });
    visit.time("request_timeout", config.request_timeout, 0s, 24h);
    visit.group("stream", [&] {
        visit.number("window", config.stream.window, 1, 65'536);
        visit.number("window_bytes", config.stream.window_bytes, 1 << 10, 1 << 30);
        visit.time("timeout", config.stream.timeout, 0s, 24h);
        visit.time("idle_timeout", config.stream.idle_timeout, 0s, 24h);
    });
    visit.groups("commands", config.commands, [](auto& command, auto& each) {
        each.optional_time("timeout", command.timeout, 0s, 24h);
        each.optional_time("queue_timeout", command.queue_timeout, 0s, 24h);
        each.optional_time("idle_timeout", command.idle_timeout, 0s, 24h);
        each.optional_flag("idempotent", command.idempotent);
        each.optional_number("batch", command.batch, 1, 65'536);
        each.optional_time("batch_wait", command.batch_wait, 0s, 10s);
    });
    visit.group("retry", [&] {
        auto& retry = config.retry;
        visit.number("attempts", retry.attempts, 1, 100);
        visit.times("backoff", retry.backoff, 0s, 24h);
        visit.real("jitter", retry.jitter, 0.0, 1.0);
        visit.number("budget", retry.budget, 0, 1'000'000);
        visit.real("budget_ratio", retry.budget_ratio, 0.001, 1.0);
    });
    visit.group("affinity", [&] {
        visit.choice("mode", config.affinity.mode, {"hint", "strict_queue", "strict_fail_fast"});
        visit.time("ttl", config.affinity.ttl, 1ms, 365 * 24h);
        visit.number("limit", config.affinity.limit, 1, 10'000'000);
        visit.choice("on_recycle", config.affinity.on_recycle, {"wait", "move"});
    });
    visit.group("limits", [&] { visit_limits(config.limits, visit); });
    visit.group("metrics", [&] {
        visit.flag("enabled", config.metrics.enabled);
        visit.number("commands", config.metrics.commands, 0, 1'000);
    });
    visit.group("tracing", [&] { visit.real("sample_ratio", config.tracing.sample_ratio, 0.0, 1.0); });
    visit.choice("thread", config.thread, {"caller", "own"});
    visit.choice("wait", config.wait, {"adaptive", "block"});
    visit_log(config, visit);
}

/// Copies the same fields between the options of pools of processes and of nodes, but no handlers.
template <class Source, class Target>
void copy_call_fields(const Source& source, Target& target) {
    target.queue = source.queue;
    target.request_timeout = source.request_timeout;
    target.stream = source.stream;
    target.commands = source.commands;
    target.retry = source.retry;
    target.affinity = source.affinity;
    target.limits = source.limits;
    target.metrics = source.metrics;
    target.tracing = source.tracing;
    target.thread = source.thread;
    target.wait = source.wait;
    target.log_level = source.log_level;
    target.log_format = source.log_format;
}

} // namespace skep
