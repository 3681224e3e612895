// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/config_path.hpp"
#include "core/text.hpp"
#include <skep/pool_config.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace skep {

/// Both add the violated rules of fields that pools of processes and of nodes have in common.
inline void check_commands(const std::map<std::string, command_options, std::less<>>& commands,
                           config_problems& problems) {
    constexpr std::size_t longest_command = 256; // as for a request
    for (const auto& [name, options] : commands) {
        problems.expect(!name.empty() && name.size() <= longest_command && is_utf8(name), {"commands"},
                        in_quotes(is_utf8(name) ? name : ""), "a command's name is 1..256 bytes of UTF-8");
    }
}

inline void check_limits(const limit_options& limits, config_problems& problems) {
    problems.expect(limits.json_bytes <= limits.frame_bytes, {"limits.json_bytes", "limits.frame_bytes"},
                    std::to_string(limits.json_bytes), "must not exceed limits.frame_bytes");
}

} // namespace skep
