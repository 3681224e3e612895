// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/exact_ms.hpp"
#include <skep/pool_metrics.hpp>

namespace skep {

namespace json = boost::json;

namespace {

json::object to_json(const histogram& times) {
    return {{"count", times.count()},
            {"sum_ms", exact_ms(times.sum())},
            {"p50_ms", exact_ms(times.quantile(0.5))},
            {"p90_ms", exact_ms(times.quantile(0.9))},
            {"p99_ms", exact_ms(times.quantile(0.99))},
            {"max_ms", exact_ms(times.largest())}};
}

json::object to_json(const std::map<errc, std::uint64_t>& failures) {
    json::object failed;
    for (const auto& [code, count] : failures) {
        failed[to_string(code)] = count;
    }
    return failed;
}

json::object to_json(const call_counts& calls) {
    return {{"succeeded", calls.succeeded}, {"failed", to_json(calls.failed)}};
}

json::object to_json(const call_metrics& calls) {
    return {{"succeeded", calls.succeeded},
            {"failed", to_json(calls.failed)},
            {"queue_time", to_json(calls.queue_time)},
            {"run_time", to_json(calls.run_time)}};
}

json::object to_json(const batch_metrics& batches) {
    json::object sizes;
    for (std::size_t power = 0; power < batches.sizes.size(); ++power) {
        sizes[std::to_string(std::size_t(1) << power)] = batches.sizes[power];
    }
    return {{"calls", batches.calls}, {"sizes", std::move(sizes)}, {"wait_time", to_json(batches.wait_time)}};
}

} // namespace

json::object to_json(const pool_metrics& metrics) {
    json::object commands;
    for (const auto& [name, each] : metrics.commands) {
        commands[name] = to_json(each);
    }
    json::object batches;
    for (const auto& [name, each] : metrics.batches) {
        batches[name] = to_json(each);
    }
    json::object result{{"status", to_json(metrics.status)}, {"start_time", to_json(metrics.start_time)},
                        {"calls", to_json(metrics.calls())}, {"commands", std::move(commands)},
                        {"others", to_json(metrics.others)}, {"batches", std::move(batches)}};
    if (metrics.status.remote) {
        auto& nodes = result["nodes"].emplace_object();
        for (const auto& [name, each] : metrics.nodes) {
            nodes[name] = to_json(each);
        }
    }
    return result;
}

} // namespace skep
