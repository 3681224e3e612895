// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/host_facts.hpp"

#include <boost/version.hpp>

#include <string>
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

std::string build() {
    std::string text = "C++ " + std::to_string(__cplusplus) + ", " __VERSION__ ", Boost " BOOST_LIB_VERSION;
#if !defined(NDEBUG)
    text += ", with assertions";
#endif
    return text;
}

} // namespace

json::object config_without_secrets(const pool_config& config) {
    auto shown = to_json(config);
    auto& launch = shown.at("launch").as_object();
    count_words(launch, "prefix");
    count_words(launch, "args");
    count_words(launch, "slot_args");
    hide_values(launch, "environment");
    hide_values(launch, "slot_environment");
    return shown;
}

json::object host_facts(const std::vector<pool_config>& configs, std::int64_t started_at_ms) {
    json::object shown;
    for (const auto& each : configs) {
        shown[each.name] = config_without_secrets(each);
    }
    return {{"version", SKEP_VERSION},
            {"build", build()},
            {"started_at_ms", started_at_ms},
            {"configurations", std::move(shown)}};
}

} // namespace skep
