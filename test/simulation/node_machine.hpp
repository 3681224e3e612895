// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/node_core.hpp"
#include "simulation/node_record.hpp"
#include "simulation/sim_bus.hpp"
#include "simulation/world.hpp"
#include "testing/scripted_runtime.hpp"
#include <skep/pool.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace skep::simulation {

/// A connection of a program to the bus of a world.
class program_connection final : public bus, private bus_user {
public:
    /// `place`: refers to the connection as long as there is no newer one.
    program_connection(sim_bus& server, const strand& executor, bus_user& user, program_connection*& place);
    ~program_connection() override;
    program_connection(const program_connection&) = delete;
    program_connection& operator=(const program_connection&) = delete;

    sim_bus::connection& wire() noexcept { return wire_; }

    void publish(std::string_view subject, std::string_view reply, std::string_view head,
                 std::string_view body) override {
        wire_.publish(subject, reply, head, body);
    }
    void subscribe(std::string_view subject) override { wire_.subscribe(subject); }
    void unsubscribe(std::string_view subject) override { wire_.unsubscribe(subject); }
    bool is_up() const noexcept override { return wire_.is_up(); }
    std::size_t max_payload() const noexcept override { return wire_.max_payload(); }
    asio::awaitable<void> close() override { co_return; }

private:
    struct inbox {
        explicit inbox(bus_user& program) : user(&program) {}

        bus_user* user; ///< null once the connection is gone
    };

    void on_message(const bus_message& message) override;
    void on_connection(bool is_up) override;

    sim_bus& server_;
    strand executor_;
    program_connection*& place_;
    std::shared_ptr<inbox> inbox_;
    sim_bus::connection& wire_;
};

/// Returns a connection to `server`, and stores it in `place` as long as it lasts.
bus_factory connect_to(sim_bus& server, program_connection*& place);

/// The environment of a program in the world.
pool_context context_in(world& around, run_queue& queue);

/// A machine with workers, whose pool is offered on the bus.
class node_machine {
public:
    node_machine(world& around, sim_bus& server, std::string name, run_queue& queue,
                 std::deque<node_call_record>& calls);

    const std::string& name() const noexcept { return name_; }
    std::size_t places() const noexcept { return places_; }
    bool is_up() const noexcept { return agent_ != nullptr; }

    /// Returns when the program was started for the last time.
    time_point started() const noexcept { return started_; }

    // Preconditions: is_up().
    std::size_t links() const noexcept { return agent_->links(); }
    bool is_draining() const { return agent_->status().is_draining; }

    /// Each call ends the program as SIGKILL does, until the end of `traffic`. The program starts again soon.
    void rot(time_point traffic_end) noexcept { rotten_until_ = traffic_end; }

    /// Returns how often a call has ended the program.
    std::size_t deaths() const noexcept { return deaths_; }

    /// Starts the program of the node.
    void start();

    /// Ends it in an orderly way: after its calls. It starts again after a pause, if that is given.
    void drain(std::optional<duration> pause = {});

    /// Ends it as SIGKILL ends a process.
    void kill();

    sim_bus::connection* wire() const noexcept { return connection_ ? &connection_->wire() : nullptr; }

private:
    asio::awaitable<void> rot_away();
    asio::awaitable<void> leave(std::shared_ptr<node_core> agent, std::shared_ptr<pool> workers,
                                std::optional<duration> pause);
    asio::awaitable<boost::json::value> run(worker_call& call);
    asio::awaitable<boost::json::value> stream(worker_call& call);
    node_call_record& record_of(worker_call& call);
    void check_load() const;

    world& world_;
    sim_bus& bus_;
    std::string name_;
    run_queue& queue_;
    std::deque<node_call_record>& calls_;
    std::size_t places_;
    time_point rotten_until_{};
    std::size_t deaths_ = 0;
    time_point started_{};
    std::shared_ptr<testing::script> script_;
    program_connection* connection_ = nullptr;
    std::shared_ptr<pool> pool_;
    std::shared_ptr<node_core> agent_;
};

} // namespace skep::simulation
