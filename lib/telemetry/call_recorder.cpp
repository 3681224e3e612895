// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "telemetry/call_recorder.hpp"

#include <exception>

namespace skep {

void call_recorder::record(const std::string& command, const time_spent& times,
                           std::optional<errc> code) noexcept {
    if (!options_.enabled) {
        return;
    }
    auto& calls = of(command);
    if (code) {
        try {
            ++calls.failed[*code];
        } catch (const std::exception&) { // out of memory, and nothing of that kind has failed before
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

call_metrics& call_recorder::of(const std::string& command) noexcept {
    try {
        const auto known = commands_.find(command);
        if (known != commands_.end()) {
            return known->second;
        }
        return commands_.size() < options_.commands ? commands_[command] : others_;
    } catch (const std::exception&) { // out of memory
        return others_;
    }
}

void call_recorder::report(pool_metrics& metrics) const {
    metrics.commands = {commands_.begin(), commands_.end()};
    metrics.others = others_;
}

} // namespace skep
