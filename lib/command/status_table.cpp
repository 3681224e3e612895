// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/status_table.hpp"

#include "command/document_places.hpp"
#include "core/visible_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace skep {

namespace json = boost::json;

namespace {

using row = std::vector<std::string>;

std::string text_at(const json::value& document, std::string_view pointer) {
    const auto* const found = find_at(document, pointer);
    return found != nullptr && found->is_string() ? visible(std::string(found->get_string())) : "-";
}

double number_at(const json::value& document, std::string_view pointer) {
    const auto* const found = find_at(document, pointer);
    boost::system::error_code ec;
    const auto number = found == nullptr ? 0.0 : found->to_number<double>(ec);
    return ec ? 0.0 : number;
}

std::string count_at(const json::value& document, std::string_view pointer) {
    return find_at(document, pointer) == nullptr ? "-"
                                                 : std::to_string(std::llround(number_at(document, pointer)));
}

std::string with_unit(double number, const char* unit) {
    char text[64];
    std::snprintf(text, sizeof text, number < 10 && number != std::floor(number) ? "%.1f %s" : "%.0f %s",
                  number, unit);
    return text;
}

std::string time_text(double ms) {
    return ms < 1000      ? with_unit(ms, "ms")
           : ms < 120'000 ? with_unit(ms / 1000, "s")
           : ms < 7.2e6   ? with_unit(ms / 60'000, "min")
           : ms < 1.728e8 ? with_unit(ms / 3.6e6, "h")
                          : with_unit(ms / 8.64e7, "d");
}

std::string size_text(double bytes) {
    return bytes < (1 << 20)   ? with_unit(bytes / (1 << 10), "KiB")
           : bytes < (1 << 30) ? with_unit(bytes / (1 << 20), "MiB")
                               : with_unit(bytes / (1 << 30), "GiB");
}

bool is_true(const json::value& document, std::string_view pointer) {
    const auto* const found = find_at(document, pointer);
    return found != nullptr && found->is_bool() && found->get_bool();
}

row row_of_pool(const json::value& pool) {
    const auto phase = text_at(pool, "/status/phase");
    return {text_at(pool, "/status/name"),
            is_true(pool, "/status/suspended") ? phase + ", suspended" : phase,
            count_at(pool, "/status/live") + '/' + count_at(pool, "/status/desired"),
            count_at(pool, "/status/queued"),
            count_at(pool, "/status/in_flight"),
            count_at(pool, "/status/counters/succeeded"),
            count_at(pool, "/status/counters/failed"),
            count_at(pool, "/status/counters/crashes"),
            time_text(number_at(pool, "/calls/run_time/p50_ms")),
            time_text(number_at(pool, "/calls/run_time/p99_ms"))};
}

/// Returns the longest running call, or the reason why the slot is vacant.
std::string activity_of(const json::value& worker) {
    if (find_at(worker, "/calls/0") != nullptr) {
        return text_at(worker, "/calls/0/command") + ' ' +
               time_text(number_at(worker, "/calls/0/running_ms"));
    }
    const bool is_down = find_at(worker, "/last_failure") != nullptr && number_at(worker, "/pid") == 0;
    return is_down ? text_at(worker, "/last_failure") : "-";
}

row row_of_worker(const json::value& worker) {
    return {text_at(worker, "/id"),
            text_at(worker, "/state"),
            text_at(worker, "/health"),
            count_at(worker, "/pid"),
            count_at(worker, "/load") + '/' + count_at(worker, "/capacity"),
            count_at(worker, "/completed"),
            count_at(worker, "/errors"),
            size_text(number_at(worker, "/resident_bytes")),
            time_text(number_at(worker, "/uptime_ms")),
            activity_of(worker)};
}

row row_of_node(const std::string& pool, const json::value& node) {
    const auto round_trip = number_at(node, "/round_trip_ms"); // 0: not measured yet
    return {text_at(node, "/name"),       pool,
            text_at(node, "/state"),      count_at(node, "/calls") + '/' + count_at(node, "/places"),
            count_at(node, "/own_calls"), round_trip == 0 ? "-" : time_text(round_trip),
            count_at(node, "/ejections")};
}

/// Returns the rows below the titles as a table of their own; nothing without such rows.
std::string further_table(const std::vector<row>& rows) {
    return rows.size() > 1 ? '\n' + align(rows) : "";
}

} // namespace

std::string align(const std::vector<row>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& each : rows) {
        widths.resize(std::max(widths.size(), each.size()));
        for (std::size_t i = 0; i < each.size(); ++i) {
            widths[i] = std::max(widths[i], each[i].size());
        }
    }
    std::string text;
    for (const auto& each : rows) {
        for (std::size_t i = 0; i < each.size(); ++i) {
            const bool is_last = i + 1 == each.size();
            text += is_last ? each[i] : each[i] + std::string(widths[i] - each[i].size() + 2, ' ');
        }
        text += '\n';
    }
    return text;
}

std::string status_table(const json::value& document) {
    std::vector<row> pools{
        {"POOL", "PHASE", "WORKERS", "QUEUED", "RUNNING", "OK", "FAILED", "CRASHES", "P50", "P99"}};
    std::vector<row> workers{
        {"WORKER", "STATE", "HEALTH", "PID", "LOAD", "CALLS", "ERRORS", "MEMORY", "UPTIME", "NOW"}};
    std::vector<row> nodes{{"NODE", "POOL", "STATE", "LOAD", "OWN", "ROUND TRIP", "EJECTIONS"}};
    for (const auto& pool : array_at(document, "/pools")) {
        pools.push_back(row_of_pool(pool));
        for (const auto& node : array_at(pool, "/status/remote/nodes")) {
            nodes.push_back(row_of_node(text_at(pool, "/status/name"), node));
        }
        for (const auto& worker : array_at(pool, "/status/workers")) {
            workers.push_back(row_of_worker(worker));
        }
    }
    return align(pools) + '\n' + align(workers) + further_table(nodes);
}

} // namespace skep
