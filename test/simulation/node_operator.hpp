// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/sim_bus.hpp"
#include "simulation/world.hpp"
#include "wire/node_request.hpp"

#include <cstddef>
#include <map>
#include <string>

namespace skep::simulation {

/// An operator of the nodes of a world, who repeats each request until its answer.
class node_operator final : private bus_user {
public:
    node_operator(world& around, sim_bus& server);

    /// Drains a node, and has it serve again after a while.
    void drain(const std::string& node, duration span);
    void restart(const std::string& node);

    /// Repeats no request any more.
    void end() noexcept { is_over_ = true; }

private:
    struct wish {
        std::size_t number = 0;
        node_action action{};
    };

    void begin(const std::string& node, node_action action);
    void ask(const std::string& node, std::size_t number);
    void on_message(const bus_message& message) override;
    void on_connection(bool) override {}

    world& world_;
    sim_bus::connection& wire_;
    std::map<std::string, wish> wishes_; ///< without an answer, by the node
    std::size_t numbers_ = 0;
    bool is_over_ = false;
};

} // namespace skep::simulation
