// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "telemetry/call_recorder.hpp"

#include "core/text.hpp"

#include <bit>
#include <exception>

namespace skep {

namespace {

constexpr std::size_t most_nodes = 100; ///< with counts of their own

bool is_label(const std::string& command) noexcept {
    constexpr std::size_t longest = 128;
    return !command.empty() && command.size() <= longest && is_utf8(command);
}

} // namespace

void call_recorder::record(const std::string& command, const time_spent& times,
                           const std::optional<errc>& code) noexcept {
    if (!options_.enabled) {
        return;
    }
    auto& calls = of(command, times.run_time && code != errc::unknown_command);
    if (code) {
        try {
            ++calls.failed[*code];
        } catch (const std::exception&) { // out of memory for the first failure of its kind
            return;
        }
    } else {
        ++calls.succeeded;
    }
    calls.queue_time.record(times.queue_time);
    if (times.run_time) {
        calls.run_time.record(*times.run_time);
    }
}

void call_recorder::record_at_node(const std::string& node, const std::optional<errc>& code) noexcept {
    if (!options_.enabled) {
        return;
    }
    try {
        auto& calls = of_node(node);
        ++(code ? calls.failed[*code] : calls.succeeded);
    } catch (const std::exception&) {} // out of memory for a new node, or the first failure of its kind
}

call_counts& call_recorder::of_node(const std::string& node) {
    const bool has_room = nodes_.size() < most_nodes || nodes_.contains(node);
    return nodes_[has_room ? node : std::string()];
}

void call_recorder::record_batch(const std::string& command, std::size_t calls, duration wait_time) noexcept {
    try {
        const bool is_known = batches_.contains(command);
        const bool has_room = batches_.size() < options_.commands && is_label(command);
        if (!options_.enabled || (!is_known && !has_room)) {
            return;
        }
        auto& batches = batches_[command];
        batches.calls += calls;
        ++batches.sizes.at(std::bit_width(calls - 1));
        batches.wait_time.record(wait_time);
    } catch (const std::exception&) {} // out of memory for a new command, or too many calls
}

/// Callers may choose arbitrary command names: only commands known to a worker get figures of their own.
call_metrics& call_recorder::of(const std::string& command, bool was_known) noexcept {
    try {
        const auto known = commands_.find(command);
        if (known != commands_.end()) {
            return known->second;
        }
        const bool has_room = commands_.size() < options_.commands;
        return has_room && was_known && is_label(command) ? commands_[command] : others_;
    } catch (const std::exception&) { // out of memory
        return others_;
    }
}

void call_recorder::report(pool_metrics& metrics) const {
    metrics.commands = {commands_.begin(), commands_.end()};
    metrics.others = others_;
    metrics.batches = {batches_.begin(), batches_.end()};
    metrics.nodes = nodes_;
}

} // namespace skep
