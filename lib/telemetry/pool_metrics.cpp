// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/pool_metrics.hpp>

namespace skep {

std::uint64_t call_metrics::failures() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& [code, count] : failed) {
        sum += count;
    }
    return sum;
}

void call_metrics::add(const call_metrics& other) {
    succeeded += other.succeeded;
    for (const auto& [code, count] : other.failed) {
        failed[code] += count;
    }
    queue_time.add(other.queue_time);
    run_time.add(other.run_time);
}

call_metrics pool_metrics::calls() const {
    auto sum = others;
    for (const auto& [name, each] : commands) {
        sum.add(each);
    }
    return sum;
}

} // namespace skep
