// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/commands.hpp"

#include <stdexcept>
#include <utility>

namespace skep {

void work::add(std::string command, command_handler handler) {
    if (command.empty() || command.starts_with(reserved_prefix)) {
        throw std::invalid_argument("a command needs a name, and none that begins with 'skep.'");
    }
    if (!commands.try_emplace(command, std::move(handler)).second) {
        throw std::invalid_argument("there is already a command '" + command + "'");
    }
}

void work::set_health_check(detail::async_handler check) {
    if (health_check) {
        throw std::invalid_argument("there is already a health check");
    }
    health_check = std::move(check);
}

} // namespace skep
