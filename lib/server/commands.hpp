// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/batch_limits.hpp"
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

using command_handler = std::variant<detail::plain_handler, detail::async_handler,
                                     detail::plain_batch_handler, detail::async_batch_handler>;

inline bool is_of_batches(const command_handler& handler) noexcept {
    return std::holds_alternative<detail::plain_batch_handler>(handler) ||
           std::holds_alternative<detail::async_batch_handler>(handler);
}

/// The commands and hooks of a worker.
struct work {
    /// Throws std::invalid_argument for a name that is empty, taken, or begins with reserved_prefix.
    void add(std::string command, command_handler handler);

    /// Adds a batch command. Throws the same, also for options out of their range.
    void add_batch(std::string command, const batch_options& options, detail::batch_handler handler);

    /// Throws std::invalid_argument for a second check.
    void set_health_check(detail::async_handler check);

    std::map<std::string, command_handler, std::less<>> commands;
    detail::async_handler any_command;  ///< runs the commands that are not listed; may be empty
    batch_commands batches;             ///< the limits of the batch commands
    detail::async_handler health_check; ///< empty if the worker has no check of its own
    std::vector<detail::async_hook> preload_hooks;
    std::vector<detail::async_hook> start_hooks;
    std::vector<detail::async_hook> stop_hooks; ///< the last hook runs first
};

} // namespace skep
