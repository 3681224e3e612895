// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/environment.hpp"

#include "process/shipped_files.hpp"
#include <skep/error.hpp>

#include <boost/process/v2/environment.hpp>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <sstream>
#include <unistd.h>

namespace skep {

namespace {

// Of Process v2 what is header-only in every version: from 1.86 on the rest is a library, which not everybody has.
namespace environment = boost::process::v2::environment;

bool is_essential(const std::string& name) {
    return name == "PATH" || name == "HOME" || name == "LANG";
}

variables inherited(bool everything) {
    variables result;
    for (char** entry = ::environ; *entry != nullptr; ++entry) {
        const environment::key_value_pair_view variable(*entry);
        const auto name = variable.key().string();
        // A worker of a host that is a worker itself must not take its host's channels for its own.
        const bool reserved = name.rfind("SKEP_", 0) == 0;
        if (!reserved && (everything || is_essential(name))) {
            result[name] = variable.value().string();
        }
    }
    return result;
}

/// Each of these libraries starts a thread per core by default, which starves a pool of processes.
void limit_library_threads(variables& into, std::size_t threads) {
    for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                             "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"}) {
        into.try_emplace(name, std::to_string(threads));
    }
}

void append(std::vector<std::string>& to, const variables& from) {
    for (const auto& [name, value] : from) {
        to.push_back(name + '=' + value);
    }
}

[[noreturn]] void refuse(const std::string& program, const std::string& problem) {
    error_info info;
    info.detail = "program '" + program + "' " + problem;
    throw error(errc::spawn_failed, std::move(info));
}

bool is_executable_file(const std::filesystem::path& path) {
    std::error_code ec;
    return std::filesystem::is_regular_file(path, ec) && ::access(path.c_str(), X_OK) == 0;
}

/// Empty if there is none. As a shell does it: an empty entry of PATH is the current directory.
std::string find_in_path(const std::string& name) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        const auto candidate = std::filesystem::absolute(std::filesystem::path(folder) / name);
        if (is_executable_file(candidate)) {
            return candidate.string();
        }
    }
    return {};
}

} // namespace

std::vector<std::string> worker_environment(const launch_options& launch, std::size_t threads,
                                            const variables& protocol) {
    auto merged = inherited(launch.inherit_environment);
    for (const auto& [name, value] : launch.environment) {
        merged[name] = value;
    }
    limit_library_threads(merged, threads);
    if (const auto sdk = python_sdk_directory(); !sdk.empty()) {
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
    auto chosen = launch.environment;
    limit_library_threads(chosen, threads);
    std::vector<std::string> result;
    append(result, protocol); // first: a name of the user's might look like an option of env
    append(result, chosen);
    return result;
}

const std::string& started_program(const launch_options& launch) noexcept {
    return launch.prefix.empty() ? launch.program : launch.prefix.front();
}

std::string find_program(const launch_options& launch) {
    const auto& program = started_program(launch);
    const std::string field = launch.prefix.empty() ? "launch.program" : "launch.prefix";
    if (program.find('/') != std::string::npos) {
        std::error_code ec;
        if (!std::filesystem::exists(program, ec)) {
            refuse(program, "does not exist; check " + field);
        }
        if (std::filesystem::is_directory(program, ec)) {
            refuse(program, "is a directory; check " + field);
        }
        if (::access(program.c_str(), X_OK) != 0) {
            refuse(program, "is not executable; check its permissions");
        }
        return std::filesystem::absolute(program).string();
    }
    const auto found = find_in_path(program);
    if (found.empty()) {
        refuse(program, "was not found in PATH; install it or give its full path in " + field);
    }
    return found;
}

} // namespace skep
