// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/oracle.hpp"
#include "simulation/users.hpp"
#include "simulation/world.hpp"
#include <skep/pool.hpp>
#include <skep/tool.hpp>

namespace skep::simulation {

/// What the service does for its workers: answers at once or later, fails, calls the pool, or does not let
/// itself be cancelled.
class sim_tools {
public:
    sim_tools(world& in, oracle& judge, users& callers) : world_(in), oracle_(judge), users_(callers) {}

    void serve(pool& workers);

private:
    asio::awaitable<tool_reply> help(tool_call asked);
    asio::awaitable<void> act(const tool_record& which);
    asio::awaitable<void> pause();

    world& world_;
    oracle& oracle_;
    users& users_;
};

} // namespace skep::simulation
