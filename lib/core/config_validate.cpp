// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/config_validate.hpp"

#include "core/config_fields.hpp"
#include "core/launch_command.hpp"
#include "core/name_rule.hpp"
#include "core/pool_size.hpp"
#include "core/range_check.hpp"
#include "core/utf8.hpp"
#include <skep/exit_class.hpp>

#include <algorithm>
#include <initializer_list>

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

    void times(std::string_view field, const std::vector<duration>& values, duration low,
               duration high) const {
        if (values.empty()) {
            where().reject(field, "", "must not be empty");
        }
        for (const auto value : values) {
            time(field, value, low, high);
        }
    }

    // Their rules are not ranges: see the functions below.
    void text(std::string_view, const std::string&) {}
    void strings(std::string_view, const std::vector<std::string>&) {}
    void variables(std::string_view, const std::map<std::string, std::string>&) {}
    void lists(std::string_view, const std::vector<std::vector<std::string>>&) {}
    void lists_by_name(std::string_view, const std::map<std::string, std::vector<std::string>>&) {}
    void flag(std::string_view, bool) {}
    void path(std::string_view, const std::filesystem::path&) {}
};

void check_name(const std::string& name) {
    if (!is_name(name)) {
        config_path().reject("name", in_quotes(name), name_rule);
    }
}

bool holds_nul(const std::string& text) {
    return text.find('\0') != std::string::npos;
}

void check_args(const std::string& field, const std::vector<std::string>& args) {
    for (std::size_t i = 0; i < args.size(); ++i) {
        if (holds_nul(args[i])) {
            config_path().reject(field + "[" + std::to_string(i) + "]", "", "must not hold a NUL character");
        }
    }
}

void check_variable(std::string_view field, const std::string& name, const std::string& value) {
    const config_path path;
    if (name.empty() || name.find('=') != std::string::npos || holds_nul(name) || holds_nul(value)) {
        path.reject(field, in_quotes(name), "a name must not be empty or hold '=' or NUL, a value no NUL");
    }
    if (name.starts_with("SKEP_")) {
        path.reject(field, in_quotes(name), "names starting with SKEP_ are reserved");
    }
}

void check_directory(const std::filesystem::path& directory) {
    std::error_code ec;
    if (!directory.empty() && !std::filesystem::is_directory(directory, ec)) {
        config_path().reject("launch.working_directory", in_quotes(directory.string()), "is not a directory");
    }
}

void check_size(const pool_config& config, std::size_t workers) {
    const config_path path;
    const auto size = size_of(config.scaling, workers);
    if (config.scaling.max != 0 && config.scaling.min > config.scaling.max) {
        path.reject("scaling.min", std::to_string(config.scaling.min), "must not exceed scaling.max");
    }
    if (config.scaling.initial != 0 &&
        (config.scaling.initial < size.limits.min || config.scaling.initial > size.limits.max)) {
        path.reject("scaling.initial", std::to_string(config.scaling.initial),
                    "must be " + std::to_string(size.limits.min) + ".." + std::to_string(size.limits.max));
    }
    if (config.min_ready > size.initial) {
        path.reject("min_ready", std::to_string(config.min_ready),
                    "must not exceed the initial number of workers (" + std::to_string(size.initial) + ")");
    }
}

void check_prefix(const launch_options& launch) {
    const config_path path;
    check_args("launch.prefix", launch.prefix);
    if (!launch.prefix.empty() && launch.prefix.front().empty()) {
        path.reject("launch.prefix[0]", in_quotes(""), "must name a program");
    }
    if (launch.remote_shell && !is_forwarded(launch)) {
        path.reject("launch.remote_shell", "true",
                    "needs a launch.prefix, and \"stdio\" as launch.transport");
    }
    if (is_forwarded(launch) && launch.program.find('=') != std::string::npos) {
        path.reject("launch.program", in_quotes(launch.program),
                    "must not hold '=' behind a launch.prefix over stdio: env would take it for a variable");
    }
}

bool is_exit_code(const std::string& text) {
    const bool digits =
        !text.empty() && text.size() <= 3 && text.find_first_not_of("0123456789") == std::string::npos;
    return digits && std::stoi(text) <= 255 && (text.size() == 1 || text.front() != '0');
}

void check_crash_barrier(const crash_barrier_options& barrier) {
    const config_path path;
    for (const auto& name : barrier.taint_on) {
        if (!exit_class_of(name) && !is_exit_code(name)) {
            path.reject("crash_barrier.taint_on", in_quotes(name),
                        "is neither the name of an exit_class nor an exit code (0..255)");
        }
    }
    if (barrier.max_taint < barrier.taint) {
        path.reject("crash_barrier.max_taint", in_milliseconds(barrier.max_taint),
                    "must not be less than crash_barrier.taint");
    }
}

void check_relations(const pool_config& config) {
    const config_path path;
    if (!is_utf8(config.health_check.command)) {
        path.reject("health_check.command", in_quotes(""), "must be UTF-8");
    }
    if (config.restart.max_backoff < config.restart.initial_backoff) {
        path.reject("restart.max_backoff", in_milliseconds(config.restart.max_backoff),
                    "must not be less than restart.initial_backoff");
    }
    if (config.limits.json_bytes > config.limits.frame_bytes) {
        path.reject("limits.json_bytes", std::to_string(config.limits.json_bytes),
                    "must not exceed limits.frame_bytes");
    }
    if (config.scaling.down > config.scaling.up) {
        path.reject("scaling.down", std::to_string(config.scaling.down), "must not exceed scaling.up");
    }
    if (config.launch.transport == transport::stdio &&
        (config.recycle.soft_memory != 0 || config.recycle.hard_memory != 0)) {
        path.reject(
            config.recycle.soft_memory != 0 ? "recycle.soft_memory" : "recycle.hard_memory", "",
            "needs \"socket\" as launch.transport: the memory of a worker over stdio is not measured");
    }
    if (config.recycle.hard_memory != 0 && config.recycle.hard_memory < config.recycle.soft_memory) {
        path.reject("recycle.hard_memory", std::to_string(config.recycle.hard_memory),
                    "must not be less than recycle.soft_memory");
    }
}

} // namespace

void check_launch(const launch_options& launch) {
    const config_path path;
    if (launch.program.empty()) {
        path.reject("launch.program", in_quotes(""),
                    "is required: the program that runs a worker, e.g. \"python3\"");
    }
    if (holds_nul(launch.program)) {
        path.reject("launch.program", "", "must not hold a NUL character");
    }
    check_args("launch.args", launch.args);
    check_prefix(launch);
    for (std::size_t i = 0; i < launch.slot_args.size(); ++i) {
        check_args("launch.slot_args[" + std::to_string(i) + "]", launch.slot_args[i]);
    }
    for (const auto& [name, value] : launch.environment) {
        check_variable("launch.environment", name, value);
    }
    for (const auto& [name, values] : launch.slot_environment) {
        if (values.empty()) {
            path.reject("launch.slot_environment", in_quotes(name), "needs at least one value");
        }
        for (const auto& value : values) {
            check_variable("launch.slot_environment", name, value);
        }
    }
}

void check_config(const pool_config& config, std::size_t workers) {
    field_check check;
    visit_fields(config, check);
    check_name(config.name);
    check_launch(config.launch);
    check_directory(config.launch.working_directory);
    check_size(config, workers);
    check_crash_barrier(config.crash_barrier);
    check_relations(config);
}

} // namespace skep
