// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/launch_options.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// Returns true if a prefix program forwards the worker's stdin and stdout, and perhaps only these, possibly
/// to another machine.
inline bool is_forwarded(const launch_options& launch) noexcept {
    return launch.transport == transport::stdio && !launch.prefix.empty();
}

/// Returns all words of a worker's command line: prefix, program, arguments. For a forwarded worker, includes
/// `environment` ("NAME=value" each).
std::vector<std::string> launch_command(const launch_options& launch,
                                        const std::vector<std::string>& environment);

/// Quotes `word` for a POSIX shell.
std::string quoted_for_shell(std::string_view word);

} // namespace skep
