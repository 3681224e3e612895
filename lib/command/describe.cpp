// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/describe.hpp"

#include "command/usage_error.hpp"
#include "command/words.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <unistd.h> // lint: allow linux because this program becomes another one

namespace skep {

namespace fs = std::filesystem;

namespace {

/// Runs the command line of the Python package under the name of this program.
constexpr auto run_skep = "from skep.command_line import main; main('skep')";

/// Returns the folder of the Python package: beside an installed program, or in the sources.
std::string sdk_folder() {
    if (const auto* const chosen = std::getenv("SKEP_PYTHON_SDK")) {
        return chosen;
    }
    std::error_code ec;
    const auto prefix = fs::read_symlink("/proc/self/exe", ec).parent_path().parent_path();
    const auto installed = prefix / SKEP_SDK_UNDER_PREFIX;
    return fs::exists(installed / "skep/__init__.py", ec) ? installed.string() : SKEP_SHIPPED_SDK;
}

void extend_python_path() {
    const auto* const path = std::getenv("PYTHONPATH");
    const auto folders = path == nullptr ? sdk_folder() : sdk_folder() + ':' + path;
    ::setenv("PYTHONPATH", folders.c_str(), 1);
}

} // namespace

int describe(const std::vector<std::string>& words) {
    const auto parsed =
        parse_words(words, {{"--json"}, {"--cpp"}, {"--namespace", true}, {"--python", true}});
    if (parsed.operands.size() != 1) {
        throw usage_error("one SCRIPT is needed");
    }
    const auto python = parsed.has("--python") ? parsed.options.at("--python") : "python3";
    std::vector<std::string> command{python, "-c", run_skep, "describe"};
    for (const auto& [name, value] : parsed.options) {
        if (name != "--python") {
            command.push_back(value.empty() ? name : name + '=' + value);
        }
    }
    command.insert(command.end(), {"--", parsed.operands.front()});
    std::vector<char*> arguments;
    for (auto& each : command) {
        arguments.push_back(each.data());
    }
    arguments.push_back(nullptr);
    extend_python_path();
    ::execvp(arguments.front(), arguments.data());
    throw std::runtime_error("cannot run " + python + ": " + std::strerror(errno));
}

} // namespace skep
