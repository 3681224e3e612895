// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/handler_registry.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace skep {

/// Names with this prefix are the SDK's own. The host probes a worker with health_check_command.
inline constexpr std::string_view reserved_prefix = "skep.";
inline constexpr std::string_view health_check_command = "skep.health_check";

using command_handler = std::variant<detail::plain_handler, detail::async_handler>;

/// The commands and hooks of a worker.
struct work {
    /// Throws std::invalid_argument for a name that is empty, taken, or begins with reserved_prefix.
    void add(std::string command, command_handler handler);

    /// Throws std::invalid_argument for a second check.
    void set_health_check(detail::async_handler check);

    std::map<std::string, command_handler, std::less<>> commands;
    detail::async_handler health_check; ///< empty if the worker has no check of its own
    std::vector<detail::async_hook> start_hooks;
    std::vector<detail::async_hook> stop_hooks; ///< the last hook runs first
};

} // namespace skep
