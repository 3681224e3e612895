// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/commands.hpp"

#include <chrono>
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

void work::add_batch(std::string command, const batch_options& options, detail::batch_handler handler) {
    constexpr auto longest_wait = std::chrono::milliseconds(longest_batch_wait_ms);
    if (options.most < 1 || options.most > most_in_batch || options.wait < duration::zero() ||
        options.wait > longest_wait) {
        throw std::invalid_argument("a batch has 1 to 65,536 calls and waits 0 to 10 s for more");
    }
    std::visit([&](auto& function) { add(command, std::move(function)); }, handler);
    batches.emplace(std::move(command), batch_limits{options.most, options.wait});
}

void work::set_health_check(detail::async_handler check) {
    if (health_check) {
        throw std::invalid_argument("there is already a health check");
    }
    health_check = std::move(check);
}

} // namespace skep
