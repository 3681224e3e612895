// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "otlp/spans_json.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>

namespace skep {

namespace json = boost::json;

namespace {

constexpr int kind_internal = 1;
constexpr int kind_server = 2;
constexpr int kind_client = 3;
constexpr int status_error = 2;

/// OTLP's JSON writes 64-bit integers as text. Integers beyond its range become strings.
json::object any_value(const json::value& value) {
    switch (value.kind()) {
    case json::kind::bool_: return {{"boolValue", value}};
    case json::kind::int64: return {{"intValue", json::serialize(value)}};
    case json::kind::double_: return {{"doubleValue", value}};
    case json::kind::string: return {{"stringValue", value}};
    default: return {{"stringValue", json::serialize(value)}};
    }
}

void add(json::array& attributes, std::string_view key, const json::value& value) {
    attributes.push_back(json::object{{"key", key}, {"value", any_value(value)}});
}

bool is_reserved(std::string_view key) {
    return key.starts_with("skep.") || key == "error.type";
}

json::array attributes_of(const events::span& span) {
    json::array attributes;
    add(attributes, "skep.pool", json::value(span.pool));
    if (span.worker.generation != 0) {
        add(attributes, "skep.worker", json::value(to_string(span.worker)));
    }
    if (!span.node.empty()) {
        add(attributes, "skep.node", json::value(span.node));
    }
    if (!span.correlation_id.empty()) {
        add(attributes, "skep.correlation_id", json::value(span.correlation_id));
    }
    for (const auto& [key, value] : span.attributes) {
        if (span.kind != "internal" || !span.links.empty()) {
            add(attributes, "skep." + std::string(key), value);
        } else if (!is_reserved(key)) { // the worker's code chooses its own names
            add(attributes, key, value);
        }
    }
    return attributes;
}

std::string nanoseconds(std::chrono::system_clock::time_point moment) {
    return std::to_string(
        std::chrono::duration_cast<std::chrono::nanoseconds>(moment.time_since_epoch()).count());
}

int kind_of(const events::span& span) {
    return span.kind == "client" ? kind_client : span.kind == "server" ? kind_server : kind_internal;
}

json::object to_json(const events::span& span) {
    const auto end = span.start_time + std::chrono::duration_cast<std::chrono::microseconds>(span.time);
    json::object shown{{"traceId", span.trace_id},
                       {"spanId", span.span_id},
                       {"name", span.what},
                       {"kind", kind_of(span)},
                       {"startTimeUnixNano", nanoseconds(span.start_time)},
                       {"endTimeUnixNano", nanoseconds(end)}};
    json::array links;
    if (!span.parent_id.empty()) {
        shown["parentSpanId"] = span.parent_id;
    }
    for (const auto& link : span.links) {
        const json::object target{{"traceId", link.at("trace_id")}, {"spanId", link.at("span_id")}};
        links.push_back(target);
    }
    if (!links.empty()) {
        shown["links"] = std::move(links);
    }
    auto attributes = attributes_of(span);
    if (!span.outcome.empty() && span.outcome != "ok") {
        add(attributes, "error.type", json::value(span.outcome));
        shown["status"] = json::object{{"code", status_error}, {"message", span.outcome}};
    }
    shown["attributes"] = std::move(attributes);
    return shown;
}

json::object resource_of(const otlp_options& about) {
    json::array attributes;
    add(attributes, "service.name", json::value(about.service_name));
    for (const auto& [key, value] : about.resource) {
        add(attributes, key, json::value(value));
    }
    return {{"attributes", std::move(attributes)}};
}

} // namespace

std::string to_otlp(const std::vector<events::span>& spans, const otlp_options& about) {
    json::array shown;
    for (const auto& span : spans) {
        shown.push_back(to_json(span));
    }
    json::object scope{{"scope", json::object{{"name", "skep"}}}, {"spans", std::move(shown)}};
    json::object of_resource{{"resource", resource_of(about)}, {"scopeSpans", json::array{std::move(scope)}}};
    return json::serialize(json::object{{"resourceSpans", json::array{std::move(of_resource)}}});
}

} // namespace skep
