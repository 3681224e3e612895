// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/sample.hpp"

#include "core/exact_ms.hpp"

#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

json::value quantile_ms(const histogram& times, double share) {
    if (times.count() == 0) {
        return nullptr;
    }
    return exact_ms(times.quantile(share));
}

std::uint64_t resident_bytes(const pool_status& status) {
    std::uint64_t sum = 0;
    for (const auto& each : status.workers) {
        sum += each.resident_bytes;
    }
    return sum;
}

std::map<errc, std::uint64_t> difference(const std::map<errc, std::uint64_t>& now,
                                         const std::map<errc, std::uint64_t>& before) {
    std::map<errc, std::uint64_t> counts;
    for (const auto& [code, count] : now) {
        const auto found = before.find(code);
        const auto old_count = found == before.end() ? 0 : found->second;
        if (count > old_count) {
            counts[code] = count - old_count;
        }
    }
    return counts;
}

} // namespace

call_totals call_totals::of(const pool_metrics& metrics) {
    const auto calls = metrics.calls();
    return {calls.succeeded, calls.failed, calls.queue_time, calls.run_time};
}

json::object sample_of(const pool_status& status, const call_totals& now, const call_totals& before,
                       std::int64_t at_ms) {
    const auto waits = now.queue_time.since(before.queue_time);
    const auto runs = now.run_time.since(before.run_time);
    std::uint64_t failed = 0;
    json::object failures;
    for (const auto& [code, count] : difference(now.failed, before.failed)) {
        failed += count;
        failures[to_string(code)] = count;
    }
    return {{"at_ms", at_ms},
            {"queued", status.queued},
            {"in_flight", status.in_flight},
            {"finished", now.succeeded - before.succeeded + failed},
            {"failed", failed},
            {"failures", std::move(failures)},
            {"resident_bytes", resident_bytes(status)},
            {"wait_p50_ms", quantile_ms(waits, 0.5)},
            {"wait_p99_ms", quantile_ms(waits, 0.99)},
            {"run_p50_ms", quantile_ms(runs, 0.5)},
            {"run_p99_ms", quantile_ms(runs, 0.99)}};
}

} // namespace skep
