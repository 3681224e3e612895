// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/environment.hpp"

#include "core/with_detail.hpp"
#include <skep/error.hpp>

#include <boost/process/v2/environment.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <sstream>
#include <string_view>
#include <unistd.h>

namespace skep {

namespace {

// Only the header-only part of Process v2: from 1.86 on the rest is a library, and some systems lack it.
namespace environment = boost::process::v2::environment;

bool is_essential(const std::string& name) {
    return name == "PATH" || name == "HOME" || name == "LANG";
}

/// A worker of a host that is a worker itself must ignore the channels of its host, and must not use the
/// socket for the host's readiness reports to systemd.
bool is_hosts_own(const std::string& name) {
    constexpr std::array<std::string_view, 8> of_systemd{"NOTIFY_SOCKET", "FDSTORE",       "WATCHDOG_PID",
                                                         "WATCHDOG_USEC", "LISTEN_PID",    "LISTEN_PIDFDID",
                                                         "LISTEN_FDS",    "LISTEN_FDNAMES"};
    const bool is_for_workers = name == "SKEP_PURE_PYTHON"; // a setting of the Python package
    return (name.starts_with("SKEP_") && !is_for_workers) ||
           std::ranges::find(of_systemd, name) != of_systemd.end();
}

variables inherited(const host_state& host, bool everything) {
    auto result = host.environment;
    std::erase_if(result, [&](const auto& each) { return !everything && !is_essential(each.first); });
    return result;
}

/// By default, each of these libraries starts a thread per core, which starves a pool of processes. `options`
/// has the user's settings for them.
void limit_library_threads(variables& target, std::size_t threads, const launch_options& options) {
    for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                             "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"}) {
        if (!options.environment.contains(name)) {
            target.try_emplace(name, std::to_string(threads));
        }
    }
}

void append(std::vector<std::string>& out, const variables& source) {
    for (const auto& [name, value] : source) {
        out.push_back(name + '=' + value);
    }
}

[[noreturn]] void refuse(const std::string& program, const std::string& problem) {
    throw error(errc::spawn_failed, with_detail("program '" + program + "' " + problem));
}

bool is_executable_file(const std::filesystem::path& path) {
    std::error_code ec;
    return std::filesystem::is_regular_file(path, ec) && ::access(path.c_str(), X_OK) == 0;
}

/// Returns an empty string if not found. Like a shell, takes an empty entry of PATH as the current directory.
std::string find_in_path(const std::string& name, const host_state& host) {
    const auto path = host.environment.find("PATH");
    std::istringstream folders(path == host.environment.end() ? "/usr/bin:/bin" : path->second);
    for (std::string folder; std::getline(folders, folder, ':');) {
        const auto candidate = host.directory / folder / name;
        if (candidate.is_absolute() && is_executable_file(candidate)) {
            return candidate.string();
        }
    }
    return {};
}

} // namespace

variables inherited_environment() {
    variables result;
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
        const environment::key_value_pair_view variable(*entry);
        const auto name = variable.key().string();
        if (!is_hosts_own(name)) {
            result[name] = variable.value().string();
        }
    }
    return result;
}

std::vector<std::string> worker_environment(const launch_options& launch, std::size_t threads,
                                            const variables& protocol, const host_state& host) {
    auto merged = inherited(host, launch.inherit_environment);
    for (const auto& [name, value] : launch.environment) {
        if (value) {
            merged[name] = *value;
        } else {
            merged.erase(name);
        }
    }
    limit_library_threads(merged, threads, launch);
    if (const auto sdk = python_sdk_directory(host.shipped); !sdk.empty()) {
        auto& path = merged["PYTHONPATH"];
        path = path.empty() ? sdk : sdk + ':' + path;
    }
    for (const auto& [name, value] : protocol) {
        merged[name] = value;
    }
    std::vector<std::string> result;
    append(result, merged);
    return result;
}

std::vector<std::string> forwarded_environment(const launch_options& launch, std::size_t threads,
                                               const variables& protocol) {
    std::vector<std::string> result;
    variables chosen;
    for (const auto& [name, value] : launch.environment) {
        if (value) {
            chosen[name] = *value;
        } else {
            result.insert(result.end(), {"-u", name});
        }
    }
    limit_library_threads(chosen, threads, launch);
    append(result, protocol); // before `chosen`: a name given by the user might look like an option of env
    append(result, chosen);
    return result;
}

const std::string& started_program(const launch_options& launch) noexcept {
    return launch.prefix.empty() ? launch.program : launch.prefix.front();
}

std::string find_program(const launch_options& launch, const host_state& host) {
    const auto& program = started_program(launch);
    const std::string field = launch.prefix.empty() ? "launch.program" : "launch.prefix";
    if (program.find('/') != std::string::npos) {
        const auto path = host.directory / program;
        std::error_code ec;
        if (!path.is_absolute()) {
            refuse(program, "counts from the host's working directory, which was deleted before the pool was "
                            "made; give its full path in " +
                                field);
        }
        if (!std::filesystem::exists(path, ec)) {
            refuse(program, "does not exist; check " + field);
        }
        if (std::filesystem::is_directory(path, ec)) {
            refuse(program, "is a directory; check " + field);
        }
        if (::access(path.c_str(), X_OK) != 0) {
            refuse(program, "is not executable; check its permissions");
        }
        return path.string();
    }
    const auto found = find_in_path(program, host);
    if (found.empty()) {
        refuse(program, "was not found in PATH; install it or give its full path in " + field);
    }
    return found;
}

std::string starting_directory(const launch_options& launch, const host_state& host) {
    return launch.working_directory.empty() ? host.directory.string()
                                            : (host.directory / launch.working_directory).string();
}

} // namespace skep
