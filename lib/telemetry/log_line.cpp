// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/text.hpp"
#include "core/visible_text.hpp"
#include "telemetry/log_label.hpp"
#include <skep/log.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <cstdio>
#include <ctime>

namespace skep {

namespace {

namespace json = boost::json;

std::string time_stamp(std::chrono::system_clock::time_point moment) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(moment);
    const auto rest = std::chrono::floor<std::chrono::milliseconds>(moment - seconds);
    const auto time = std::chrono::system_clock::to_time_t(seconds);
    std::tm parts{};
    ::gmtime_r(&time, &parts);
    char day_and_time[32];
    std::strftime(day_and_time, sizeof day_and_time, "%Y-%m-%dT%H:%M:%S", &parts);
    char stamp[48];
    std::snprintf(stamp, sizeof stamp, "%s.%03dZ", day_and_time, static_cast<int>(rest.count()));
    return stamp;
}

std::string text_line(const log_record& record) {
    return time_stamp(record.time) + ' ' + std::string(to_string(record.level)) + " skep pool " +
           record.pool + ": " + visible(log_label(record)) + visible(record.text) + '\n';
}

std::string json_line(const log_record& record) {
    json::object line{{"at", time_stamp(record.time)},
                      {"level", to_string(record.level)},
                      {"channel", record.source == log_source::pool ? "skep" : "skep.worker"}};
    const auto add = [&line](const char* key, const std::string& value) {
        if (!value.empty()) {
            line[key] = to_utf8(value);
        }
    };
    add("pool", record.pool);
    add("worker", record.worker ? to_string(*record.worker) : std::string());
    if (record.pid != 0) {
        line["pid"] = record.pid;
    }
    add("session", record.session);
    add("correlation_id", record.correlation_id);
    if (!record.concurrent_ids.empty()) {
        auto& ids = line["concurrent_ids"].emplace_array();
        for (const auto& id : record.concurrent_ids) {
            ids.emplace_back(to_utf8(id));
        }
    }
    add("logger", record.logger);
    line["text"] = to_utf8(record.text);
    return visible_json(json::serialize(line)) + '\n';
}

} // namespace

std::string_view to_string(log_level level) noexcept {
    switch (level) {
    case log_level::debug: return "debug";
    case log_level::info: return "info";
    case log_level::warning: return "warning";
    case log_level::error: return "error";
    default: return "off";
    }
}

std::string log_line(const log_record& record, log_format format) {
    return format == log_format::text ? text_line(record) : json_line(record);
}

} // namespace skep
