// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "telemetry/call_recorder.hpp"

#include "core/text.hpp"

#include <exception>

namespace skep {

namespace {

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
}

} // namespace skep
