// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/cpu_meter.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace skep {

std::optional<double> cpu_meter::used(const pool_status& status, time_point now) {
    std::map<worker_id, duration> times;
    std::optional<duration> sum;
    for (const auto& each : status.workers) {
        const auto time = each.pid > 0 && each.resident_bytes > 0 ? read_(each.pid) : std::nullopt;
        if (!time) {
            continue;
        }
        times.emplace(each.id, *time);
        const auto before = times_.find(each.id);
        if (before != times_.end()) {
            sum = sum.value_or(duration()) + std::max(duration(), *time - before->second);
        }
    }
    times_ = std::move(times);
    const std::chrono::duration<double> elapsed = now - std::exchange(read_at_, now);
    return sum && elapsed.count() > 0 ? std::optional(std::chrono::duration<double>(*sum) / elapsed)
                                      : std::nullopt;
}

} // namespace skep
