// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/config_fields.hpp"
#include "core/range_check.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <thread>

namespace skep {

namespace {

/// Checks each field of a configuration against its own range.
class field_check : public range_check {
public:
    template <class Enum>
    void choice(std::string_view field, Enum value, std::initializer_list<std::string_view> names) {
        if (static_cast<std::size_t>(value) >= names.size()) {
            where().reject(field, std::to_string(static_cast<int>(value)),
                           "is not a value of the enumeration");
        }
    }

    // Their rules are not ranges: see the functions below.
    void text(std::string_view, const std::string&) {}
    void strings(std::string_view, const std::vector<std::string>&) {}
    void variables(std::string_view, const std::map<std::string, std::string>&) {}
    void flag(std::string_view, bool) {}
    void path(std::string_view, const std::filesystem::path&) {}
};

void check_name(const std::string& name) {
    const auto allowed = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
    };
    const bool good = !name.empty() && name.size() <= 64 &&
                      std::isalnum(static_cast<unsigned char>(name[0])) != 0 &&
                      std::all_of(name.begin(), name.end(), allowed);
    if (!good) {
        config_path().reject("name", in_quotes(name),
                             "must match [A-Za-z0-9][A-Za-z0-9_.-]* and have at most 64 characters");
    }
}

bool holds_nul(const std::string& text) {
    return text.find('\0') != std::string::npos;
}

void check_launch(const launch_options& launch) {
    const config_path path;
    if (launch.program.empty()) {
        path.reject("launch.program", in_quotes(""),
                    "is required: the program that runs a worker, e.g. \"python3\"");
    }
    if (holds_nul(launch.program)) {
        path.reject("launch.program", "", "must not hold a NUL character");
    }
    for (std::size_t i = 0; i < launch.args.size(); ++i) {
        if (holds_nul(launch.args[i])) {
            path.reject("launch.args[" + std::to_string(i) + "]", "", "must not hold a NUL character");
        }
    }
    for (const auto& [name, value] : launch.environment) {
        if (name.empty() || name.find('=') != std::string::npos || holds_nul(name) || holds_nul(value)) {
            path.reject("launch.environment", in_quotes(name),
                        "a name must not be empty or hold '=' or NUL, a value no NUL");
        }
        if (name.rfind("SKEP_", 0) == 0) {
            path.reject("launch.environment", in_quotes(name), "names starting with SKEP_ are reserved");
        }
    }
    std::error_code ec;
    if (!launch.working_directory.empty() && !std::filesystem::is_directory(launch.working_directory, ec)) {
        path.reject("launch.working_directory", in_quotes(launch.working_directory.string()),
                    "is not a directory");
    }
}

void check_relations(const pool_config& config) {
    const config_path path;
    const auto workers =
        config.workers != 0 ? config.workers : std::max<std::size_t>(1, std::thread::hardware_concurrency());
    if (config.min_ready > workers) {
        path.reject("min_ready", std::to_string(config.min_ready),
                    "must not exceed workers (" + std::to_string(workers) + ")");
    }
    if (config.restart.max_backoff < config.restart.initial_backoff) {
        path.reject("restart.max_backoff", in_milliseconds(config.restart.max_backoff),
                    "must not be less than restart.initial_backoff");
    }
    if (config.limits.json_bytes > config.limits.frame_bytes) {
        path.reject("limits.json_bytes", std::to_string(config.limits.json_bytes),
                    "must not exceed limits.frame_bytes");
    }
}

} // namespace

void pool_config::validate() const {
    field_check check;
    visit_fields(*this, check);
    check_name(name);
    check_launch(launch);
    check_relations(*this);
}

} // namespace skep
