// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/shown_config.hpp"

#include "core/config_writer.hpp"
#include "core/remote_fields.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

constexpr const char* hidden = "(not shown)";

/// Replaces a list of words by their number.
void count_words(json::object& launch, const char* name) {
    auto* const words = launch[name].if_array();
    const auto count = words == nullptr ? 0 : words->size();
    launch[name] = count == 0 ? "none" : std::to_string(count) + ", not shown";
}

/// Replaces the values of variables; null stands for a variable that is removed.
void hide_values(json::object& launch, const char* name) {
    auto* const variables = launch[name].if_object();
    if (variables == nullptr) {
        launch.erase(name);
        return;
    }
    for (auto& each : *variables) {
        if (!each.value().is_null()) {
            each.value() = hidden;
        }
    }
}

class writer_without_secrets : public config_writer {
public:
    void secret(std::string_view field, const std::string&) { text(field, hidden); }
};

} // namespace

json::object shown_config(const pool_config& config) {
    auto shown = to_json(config);
    auto& launch = shown.at("launch").as_object();
    count_words(launch, "prefix");
    count_words(launch, "args");
    count_words(launch, "slot_args");
    hide_values(launch, "environment");
    hide_values(launch, "slot_environment");
    return shown;
}

json::object shown_config(const remote_options& options) {
    writer_without_secrets writer;
    visit_remote_fields(options, writer);
    return std::move(writer).result();
}

} // namespace skep
