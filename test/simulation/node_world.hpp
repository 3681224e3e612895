// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/node_machine.hpp"
#include "simulation/node_news.hpp"
#include "simulation/node_operator.hpp"
#include "simulation/node_record.hpp"
#include "simulation/sim_bus.hpp"
#include "simulation/world.hpp"
#include <skep/event_bus.hpp>
#include <skep/pool.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace skep::simulation {

/// Clients whose calls run on nodes, over a bus with faults.
class node_world {
public:
    node_world(std::uint64_t seed, bool tracing);

    /// Returns what broke a promise, or nullopt.
    std::optional<std::string> run();

    std::uint64_t steps() const noexcept { return world_.steps(); }

private:
    struct client {
        sim_bus::connection* wire() const noexcept { return connection ? &connection->wire() : nullptr; }

        std::unique_ptr<pool> calls;
        program_connection* connection = nullptr;
        run_queue* queue = nullptr;
        std::unique_ptr<node_news> news;
        subscription listening;
        bool is_done = false; ///< shut down
    };

    bus_climate draw_climate();
    void add_client(std::size_t number);
    void draw_traffic();
    void draw_faults();
    void draw_rot();
    void draw_late_client();
    void draw_requests();
    void check_ejection();
    void check_service();
    void fault();
    void begin_call();
    node_call_record& add_call(std::size_t from);
    void send(node_call_record& record);
    void begin_last_calls();
    std::string draw_session();
    void begin_anew(client& from, const std::string& session);
    asio::awaitable<void> make(client& from, node_call_record& record);
    asio::awaitable<void> read(client& from, node_call_record& record, request what);
    void end_all();
    asio::awaitable<void> end(client& one);
    void check_ended(const node_call_record& record);
    void check_failure(const node_call_record& record);
    void check_origin(const node_call_record& record, const reply& answer);
    void check_origin(const node_call_record& record, const error& failure);
    void check_time_of_loss(const node_call_record& record);
    bool can_avoid_drains(const node_call_record& record) const;
    bool are_homes_promised() const noexcept;
    void check_sessions();
    void check_session(const std::string& session);
    void check_end();
    void wrong(const node_call_record& record, const std::string& what);

    world world_;
    bool has_rot_;                  ///< a node that each call ends; no other fault
    bool is_calm_;                  ///< no loss, no fault
    bool has_harm_ = false;         ///< a fault that may cost calls
    bool has_drain_ = false;        ///< a node was drained
    std::set<std::string> drained_; ///< nodes, by the operator
    time_point last_drain_{};       ///< the begin of the last of these
    bool has_sessions_;
    bool has_late_client_;            ///< no worker crashes
    std::set<std::string> forgotten_; ///< sessions that began anew
    sim_bus bus_;
    std::deque<node_call_record> calls_;
    std::deque<std::unique_ptr<node_machine>> machines_;
    std::deque<client> clients_;
    duration traffic_;
    node_operator operator_;
};

} // namespace skep::simulation
