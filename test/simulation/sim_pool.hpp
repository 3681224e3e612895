// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/pool_core.hpp"
#include "simulation/oracle.hpp"
#include "simulation/scenario.hpp"
#include "simulation/sim_delegate.hpp"
#include "simulation/sim_tools.hpp"
#include "simulation/users.hpp"
#include "simulation/world.hpp"
#include <skep/event_bus.hpp>
#include <skep/pool_manager.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace skep::simulation {

/// One pool of a world: what its seed has drawn, its callers, and the oracle that knows of it.
class sim_pool {
public:
    sim_pool(world& in, std::uint64_t seed, scenario drawn, run_queue& on);

    const std::string& name() const noexcept { return script_.config.name; }
    const scenario& script() const noexcept { return script_; }
    oracle& judge() noexcept { return oracle_; }
    users& callers() noexcept { return users_; }

    /// A pool of scripted workers.
    pool make(pool_config config, pool_membership of_manager);

    /// Its callers use this one from now on, by way of the manager if there is one.
    void serve(pool& made, pool_manager* manager);

    /// Takes a status that was asked for and has it compared. None if there is none.
    std::optional<pool_status> check_inspection();

    /// The pool is gone.
    void check_end(bool context_was_destroyed);

private:
    void draw_extras(std::uint64_t seed);
    void draw_templates(std::uint64_t seed);
    void add_sessions_and_leases();
    void limit_memory();
    void add_store();
    void listen(event_bus& to);

    world& world_;
    run_queue& run_queue_;
    scenario script_;
    oracle oracle_;
    std::shared_ptr<sim_delegate> delegate_; ///< of the pools that have one
    std::weak_ptr<pool_core> core_;
    users users_;
    sim_tools tools_;
    bool tells_ = false;
    subscription listening_;
    subscription tracing_;
};

} // namespace skep::simulation
