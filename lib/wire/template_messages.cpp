// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/template_messages.hpp"

#include "wire/json_writer.hpp"
#include "wire/read_members.hpp"

#include <utility>

namespace skep {

namespace {

constexpr std::int64_t template_version = 1;
constexpr json_limits limits_of_template{4, 1u << 20};

void append_environment(std::string& out, const fork_order& order) {
    const char* between = "";
    for (const auto& [name, value] : order.environment) {
        out += std::exchange(between, ",");
        append_json_text(out, name);
        out += ':';
        if (value) {
            append_json_text(out, *value);
        } else {
            out += "null";
        }
    }
}

void append_arguments(std::string& out, const fork_order& order) {
    const char* between = "";
    for (const auto& each : order.arguments) {
        out += std::exchange(between, ",");
        append_json_text(out, each);
    }
}

template <class Read>
bool read_template_members(std::string_view message, Read&& read) {
    return read_members(message, most_template_bytes, limits_of_template, read);
}

std::vector<std::string> texts_of(const boost::json::value& list) {
    std::vector<std::string> texts;
    for (const auto& each : list.as_array()) {
        texts.emplace_back(each.as_string());
    }
    return texts;
}

} // namespace

std::string encode_fork_order(const fork_order& order) {
    std::string out = R"({"type":"fork","worker":)";
    append_json_text(out, order.worker);
    out += R"(,"environment":{)";
    append_environment(out, order);
    out += R"(},"arguments":[)";
    append_arguments(out, order);
    return out += "]}";
}

std::optional<template_report> decode_template_report(std::string_view message) {
    template_report report;
    bool is_report = false;
    bool is_known_version = false;
    const bool is_readable = read_template_members(message, [&](const json_field& field) {
        if (field.key == "type") {
            is_report = field.value.as_string() == "template";
        } else if (field.key == "version") {
            is_known_version = field.value.to_number<std::int64_t>() == template_version;
        } else if (field.key == "pid") {
            report.pid = field.value.to_number<std::int64_t>();
        } else if (field.key == "objections") {
            report.objections = texts_of(field.value);
        } else if (field.key == "shared") {
            report.takes_regions = field.value.to_number<std::int64_t>() > 0;
        }
    });
    const bool is_whole = is_readable && is_report && is_known_version && report.pid > 0;
    return is_whole ? std::optional(std::move(report)) : std::nullopt;
}

std::optional<fork_answer> decode_fork_answer(std::string_view message) {
    fork_answer answer;
    std::string type;
    const bool is_readable = read_template_members(message, [&](const json_field& field) {
        if (field.key == "type") {
            type = field.value.as_string();
        } else if (field.key == "pid") {
            answer.pid = field.value.to_number<std::int64_t>();
        } else if (field.key == "error") {
            answer.error = field.value.as_string();
        }
    });
    const bool is_worker = type == "forked" && answer.pid > 0 && answer.error.empty();
    const bool is_failure = type == "failed" && answer.pid == 0;
    return is_readable && (is_worker || is_failure) ? std::optional(std::move(answer)) : std::nullopt;
}

} // namespace skep
