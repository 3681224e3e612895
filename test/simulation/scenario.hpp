// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/behaviour.hpp"
#include "simulation/dice.hpp"
#include "simulation/template_record.hpp"
#include <skep/pool_config.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace skep::simulation {

/// How the pool of a world comes to its end.
enum class ending { shutdown, shutdown_and_destruction, destruction, end_of_context };

/// What a seed decides before anything happens.
struct scenario {
    pool_config config;
    climate weather;
    template_climate templates;
    duration length{}; ///< until the end is begun
    std::size_t calls = 0;
    std::size_t loops = 0;                                  ///< callers that make one call after the other
    duration shortest_pause = std::chrono::milliseconds(1); ///< of these callers
    duration longest_pause = std::chrono::milliseconds(300);
    std::size_t calls_per_loop = static_cast<std::size_t>(-1); ///< at most
    std::size_t changes = 0;                                   ///< suspend, restart, resize, ...
    std::size_t inspections = 0; ///< probe, ping, and who waits for a worker's end
    double cancels = 0;          ///< share of the calls that are cancelled
    double stalls = 0;           ///< chance that the host stands still when time passes
    double faults = 0;           ///< share of the tasks in which an allocation fails
    double tools = 0;            ///< share of the calls that ask the host for something
    std::size_t sessions = 0;    ///< that calls are of
    std::size_t store_uses = 0;  ///< of the store of sessions, if there is one
    std::size_t leases = 0;      ///< that are checked out
    double status_checks = 0;    ///< share of the rests at which the pool's status is compared
    bool steady = false; ///< a load that does not change, then none: the number of workers is to follow
    ending end = ending::shutdown;
};

/// What a seed decides of the pool_manager that has several pools.
struct manager_script {
    std::size_t max_workers = 0;
    bool restart_failed_pools = true;
    std::vector<duration> waits;          ///< for workers of every pool: when they begin
    std::vector<duration> status_checks;  ///< at the status of all pools
    std::optional<duration> second_start; ///< which is once too often for those that run
};

scenario draw_scenario(dice& chance);

/// Gives the commands of a pool options of their own.
void draw_commands(pool_config& config, dice& chance);

/// Makes `pools` those of one manager.
manager_script draw_manager(std::vector<scenario>& pools, dice& chance);

} // namespace skep::simulation
