// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/launch_options.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// Whether the worker is behind a program that may pass on no more than stdin and stdout, to another machine perhaps.
inline bool is_forwarded(const launch_options& launch) noexcept {
    return launch.transport == transport::stdio && !launch.prefix.empty();
}

/// All words that start a worker: prefix, program, arguments. If it is forwarded, `environment` ("NAME=value" each)
/// goes along with them.
std::vector<std::string> launch_command(const launch_options& launch,
                                        const std::vector<std::string>& environment);

/// What a POSIX shell reads as `word`.
std::string quoted_for_shell(std::string_view word);

} // namespace skep
