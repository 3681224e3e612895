// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/config_validate.hpp"

#include "core/call_rules.hpp"
#include "core/config_fields.hpp"
#include "core/field_check.hpp"
#include "core/launch_command.hpp"
#include "core/pool_size.hpp"
#include "core/text.hpp"
#include <skep/exit_class.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <string_view>

namespace skep {

namespace {

bool holds_nul(const std::string& text) {
    return text.find('\0') != std::string::npos;
}

void check_args(const std::string& field, const std::vector<std::string>& args, config_problems& problems) {
    for (std::size_t i = 0; i < args.size(); ++i) {
        problems.expect(!holds_nul(args[i]), {field + "[" + std::to_string(i) + "]"}, "",
                        "must not hold a NUL character");
    }
}

void check_slot_args(const std::vector<std::vector<std::string>>& lists, config_problems& problems) {
    for (std::size_t i = 0; i < lists.size(); ++i) {
        check_args("launch.slot_args[" + std::to_string(i) + "]", lists[i], problems);
    }
}

/// All variables of an environment share its place.
void check_variable(const std::string& place, const std::string& name, const std::string& value,
                    config_problems& problems) {
    if (name.empty() || name.find('=') != std::string::npos || holds_nul(name) || holds_nul(value)) {
        problems.add(place, in_quotes(name), "a name must not be empty or hold '=' or NUL, a value no NUL");
    } else if (name.starts_with("SKEP_") && name != "SKEP_PURE_PYTHON") {
        problems.add(place, in_quotes(name), "names starting with SKEP_ are reserved");
    }
}

void check_environments(const launch_options& launch, config_problems& problems) {
    for (const auto& [name, value] : launch.environment) {
        check_variable("launch.environment", name, value.value_or(""), problems);
    }
    for (const auto& [name, values] : launch.slot_environment) {
        if (values.empty()) {
            problems.add("launch.slot_environment", in_quotes(name), "needs at least one value");
        }
        for (const auto& value : values) {
            check_variable("launch.slot_environment", name, value, problems);
        }
    }
}

void check_program(const launch_options& launch, config_problems& problems) {
    const auto& program = launch.program;
    problems.expect(!program.empty(), {"launch.program"}, in_quotes(""),
                    "is required: the program that runs a worker, e.g. \"python3\"");
    problems.expect(!holds_nul(program), {"launch.program"}, "", "must not hold a NUL character");
    problems.expect(!is_forwarded(launch) || program.find('=') == std::string::npos,
                    {"launch.program", "launch.prefix", "launch.transport"}, in_quotes(program),
                    "must not hold '=' behind a launch.prefix over stdio: env would take it for a variable");
}

void check_prefix(const launch_options& launch, config_problems& problems) {
    check_args("launch.prefix", launch.prefix, problems);
    problems.expect(launch.prefix.empty() || !launch.prefix.front().empty(), {"launch.prefix[0]"},
                    in_quotes(""), "must name a program");
    problems.expect(!launch.remote_shell || is_forwarded(launch),
                    {"launch.remote_shell", "launch.prefix", "launch.transport"}, "true",
                    "needs a launch.prefix, and \"stdio\" as launch.transport");
}

/// A template must be the program itself: these programs replace themselves by it.
bool runs_by_exec(const std::string& program) {
    constexpr std::array<std::string_view, 5> known{"nice", "ionice", "chrt", "taskset", "numactl"};
    const auto name = std::filesystem::path(program).filename().string();
    return std::find(known.begin(), known.end(), name) != known.end();
}

void check_preload(const launch_options& launch, config_problems& problems) {
    problems.expect(!launch.preload || launch.transport == transport::socket,
                    {"launch.preload", "launch.transport"}, "true", "needs \"socket\" as launch.transport");
    problems.expect(!launch.preload || launch.prefix.empty() || runs_by_exec(launch.prefix.front()),
                    {"launch.preload", "launch.prefix"}, "true",
                    "needs a launch.prefix that begins with nice, ionice, chrt, taskset or numactl, or none");
}

void check_directory(const std::filesystem::path& directory, config_problems& problems) {
    std::error_code ec;
    problems.expect(directory.empty() || std::filesystem::is_directory(directory, ec),
                    {"launch.working_directory"}, in_quotes(directory.string()), "is not a directory");
}

void check_size(const pool_config& config, std::size_t workers, config_problems& problems) {
    const auto& scaling = config.scaling;
    const auto [initial, limits] = size_of(scaling, workers);
    problems.expect(limits.min <= limits.max, {"scaling.min", "scaling.max"}, std::to_string(limits.min),
                    "must not exceed scaling.max");
    problems.expect(!scaling.initial || (initial >= limits.min && initial <= limits.max),
                    {"scaling.initial", "scaling.min", "scaling.max", "workers"}, std::to_string(initial),
                    "must be " + std::to_string(limits.min) + ".." + std::to_string(limits.max));
    problems.expect(config.min_ready <= initial,
                    {"min_ready", "scaling.initial", "scaling.min", "scaling.max", "workers"},
                    std::to_string(config.min_ready),
                    "must not exceed the initial number of workers (" + std::to_string(initial) + ")");
    problems.expect(scaling.down <= scaling.up, {"scaling.down", "scaling.up"}, in_decimals(scaling.down),
                    "must not exceed scaling.up");
}

bool is_exit_code(const std::string& text) {
    const bool digits =
        !text.empty() && text.size() <= 3 && text.find_first_not_of("0123456789") == std::string::npos;
    return digits && std::stoi(text) <= 255 && (text.size() == 1 || text.front() != '0');
}

void check_crash_barrier(const crash_barrier_options& barrier, config_problems& problems) {
    for (const auto& name : barrier.taint_on) {
        if (!exit_class_of(name) && !is_exit_code(name)) {
            problems.add("crash_barrier.taint_on", in_quotes(name),
                         "is neither the name of an exit_class nor an exit code (0..255)");
        }
    }
    problems.expect(barrier.max_taint >= barrier.taint, {"crash_barrier.max_taint", "crash_barrier.taint"},
                    in_milliseconds(barrier.max_taint), "must not be less than crash_barrier.taint");
}

void check_memory(const pool_config& config, config_problems& problems) {
    const auto& recycle = config.recycle;
    const std::string unmeasured =
        "needs \"socket\" as launch.transport: the memory of a worker over stdio is not measured";
    const bool is_measured = config.launch.transport != transport::stdio;
    problems.expect(recycle.soft_memory == 0 || is_measured, {"recycle.soft_memory", "launch.transport"}, "",
                    unmeasured);
    problems.expect(recycle.hard_memory == 0 || is_measured, {"recycle.hard_memory", "launch.transport"}, "",
                    unmeasured);
    problems.expect(recycle.hard_memory == 0 || recycle.hard_memory >= recycle.soft_memory,
                    {"recycle.hard_memory", "recycle.soft_memory"}, std::to_string(recycle.hard_memory),
                    "must not be less than recycle.soft_memory");
}

void check_restart(const restart_options& restart, config_problems& problems) {
    problems.expect(restart.max_backoff >= restart.initial_backoff,
                    {"restart.max_backoff", "restart.initial_backoff"}, in_milliseconds(restart.max_backoff),
                    "must not be less than restart.initial_backoff");
}

void check_rules_of_launch(const launch_options& launch, config_problems& problems) {
    check_program(launch, problems);
    check_args("launch.args", launch.args, problems);
    check_prefix(launch, problems);
    check_slot_args(launch.slot_args, problems);
    check_environments(launch, problems);
    check_preload(launch, problems);
}

} // namespace

void check_launch(const launch_options& launch) {
    config_problems problems;
    check_rules_of_launch(launch, problems);
    problems.raise();
}

void check_config(const pool_config& config, std::size_t workers, config_problems& problems) {
    field_check check(problems);
    visit_fields(config, check);
    problems.expect(is_name(config.name), {"name"}, in_quotes(config.name), name_rule);
    check_rules_of_launch(config.launch, problems);
    check_directory(config.launch.working_directory, problems);
    check_size(config, workers, problems);
    problems.expect(is_utf8(config.health_check.command), {"health_check.command"}, in_quotes(""),
                    "must be UTF-8");
    check_memory(config, problems);
    check_commands(config.commands, problems);
    check_crash_barrier(config.crash_barrier, problems);
    check_restart(config.restart, problems);
    check_limits(config.limits, problems);
}

} // namespace skep
