// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/world.hpp"
#include <skep/events.hpp>
#include <skep/pool_metrics.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace skep::simulation {

/// The events of a client about its calls, nodes, links and connection, held against its figures and status.
class node_news {
public:
    node_news(world& around, std::string client) : world_(around), client_(std::move(client)) {}

    void hear(const event& what);

    /// At rest: nothing changes any more.
    void check(const pool_metrics& figures);

private:
    template <class Event>
    void on(const Event&) {}
    void on(const events::request_finished& call);
    void on(const events::node_joined& node);
    void on(const events::node_left& node);
    void on(const events::node_ejected& node);
    void on(const events::node_readmitted& node);
    void on(const events::link_opened& link);
    void on(const events::link_closed& link) { end(link.worker); }
    void on(const events::link_lost& link) { end(link.worker); }
    void on(const events::link_resumed& link);
    void on(const events::bus_up& bus);
    void on(const events::bus_down& bus);
    void end(const worker_id& worker);
    void expect(bool holds, const std::string& what);
    void check_calls(const pool_metrics& figures);
    void check_nodes(const remote_status& remote);

    world& world_;
    std::string client_;
    std::map<std::pair<std::string, std::string>, std::uint64_t> calls_; ///< ended, by node and outcome
    std::set<std::string> present_;                                      ///< nodes
    std::set<std::string> ejected_;                                      ///< nodes, until they are readmitted
    std::map<std::string, std::uint64_t> ejections_;                     ///< by node
    std::set<worker_id> links_;                                          ///< open
    std::uint64_t resumes_ = 0;
    std::uint64_t connections_ = 0;
    bool is_connected_ = true; ///< a world begins with its bus up
};

} // namespace skep::simulation
