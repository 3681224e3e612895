// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/fork_messages.hpp"

#include "wire/json_writer.hpp"
#include "wire/read_members.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <utility>

namespace skep {

namespace {

constexpr json_limits limits_of_orders{4, 4u << 20};

std::optional<std::string> variable_in(const boost::json::value& value) {
    return value.is_null() ? std::nullopt : std::optional<std::string>(value.as_string());
}

} // namespace

std::string encode_template_report(const template_report& report) {
    boost::json::array objections(report.objections.begin(), report.objections.end());
    std::string out;
    append_json(out, boost::json::object{{"type", "template"},
                                         {"version", 1},
                                         {"pid", report.pid},
                                         {"objections", std::move(objections)},
                                         {"shared", report.takes_regions ? 1 : 0}});
    return out;
}

std::string encode_fork_answer(const fork_answer& answer) {
    std::string out;
    append_json(out, answer.pid > 0 ? boost::json::object{{"type", "forked"}, {"pid", answer.pid}}
                                    : boost::json::object{{"type", "failed"}, {"error", answer.error}});
    return out;
}

std::optional<fork_order> decode_fork_order(std::string_view message) {
    fork_order order;
    bool is_order = false;
    const bool is_readable =
        read_members(message, most_template_bytes, limits_of_orders, [&](const json_field& field) {
            if (field.key == "type") {
                is_order = field.value.as_string() == "fork";
            } else if (field.key == "worker") {
                order.worker = field.value.as_string();
            } else if (field.key == "environment") {
                for (const auto& [name, value] : field.value.as_object()) {
                    order.environment.emplace(name, variable_in(value));
                }
            } else if (field.key == "arguments") {
                for (const auto& word : field.value.as_array()) {
                    order.arguments.emplace_back(word.as_string());
                }
            }
        });
    return is_readable && is_order ? std::optional(std::move(order)) : std::nullopt;
}

} // namespace skep
