// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace skep {

/// How a worker process is started. No shell is involved: `args` reach the program as they are.
struct launch_options {
    /// Program name (looked up in PATH) or path. Required. Relative paths count from the host's directory.
    std::string program;
    std::vector<std::string> args;

    /// Added to `args`, slot by slot: the worker in slot n gets the list n, counted round if there are fewer.
    std::vector<std::vector<std::string>> slot_args;

    /// Added to the worker's environment; wins over inherited and automatic variables. Names must be
    /// non-empty and hold neither '=' nor NUL; names starting with SKEP_ are reserved.
    std::map<std::string, std::string> environment;

    /// Variables that differ from slot to slot: the worker in slot n gets value n of each, counted round if there are
    /// fewer, so that {"CUDA_VISIBLE_DEVICES", {"0", "1"}} deals two devices out among any number of workers. Wins over
    /// `environment`; the same rules for names.
    std::map<std::string, std::vector<std::string>> slot_environment;

    /// False: the worker sees only `environment`, PATH, HOME, LANG and what skep sets.
    bool inherit_environment = true;

    /// Empty: the host's. Must exist.
    std::filesystem::path working_directory;
};

} // namespace skep
