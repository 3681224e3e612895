// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace skep {

using variables = std::map<std::string, std::string>;

/// The environment of a worker as "NAME=value" strings: inherited, then the library's defaults (one thread
/// for each numeric library, the Python SDK on PYTHONPATH), then the user's own for the worker, then `protocol`.
std::vector<std::string> worker_environment(const launch_options& launch, std::size_t threads,
                                            const variables& protocol);

/// The part of it that is to reach a worker wherever it is: `protocol`, the limits of threads, and the user's own.
std::vector<std::string> forwarded_environment(const launch_options& launch, std::size_t threads,
                                               const variables& protocol);

/// What is started here: the first word of the prefix, or else the program.
const std::string& started_program(const launch_options& launch) noexcept;

/// Its absolute path. Throws error(spawn_failed) saying where it was looked for.
std::string find_program(const launch_options& launch);

} // namespace skep
