// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/scenario.hpp"
#include "simulation/sim_pool.hpp"
#include "simulation/world.hpp"
#include <skep/pool_manager.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skep::simulation {

/// The program around the pools of a world: one pool, or a pool_manager with several. Makes, starts and ends
/// them, and knows what the manager promises of all of them together.
class service {
public:
    service(world& in, std::uint64_t seed);

    const scenario& script() const noexcept { return pools_.front().script(); }

    /// Makes the pools, and has everything that was drawn happen in its time.
    void begin();

    /// The world is at rest.
    void check_rest();

    /// Compares the statuses that have come. If there are none, asks for them now and then; returns true if
    /// it has.
    bool inspect();

    void check_end();

    void wrong(std::string what) { world_.violated(std::move(what)); }

private:
    class maker;
    using operation = std::function<asio::awaitable<void>()>;

    /// For so many workers of every pool.
    struct wait {
        std::size_t count;
        time_point asked;
    };
    /// A start of all pools, and what it has said at its end.
    struct ended_start {
        time_point asked;
        std::string problem; ///< empty if there was none
    };

    void make_manager();
    void on_event(const event& what);
    void schedule();
    void begin_operation(operation what);
    asio::awaitable<void> run_operation(operation what);
    asio::awaitable<void> start();
    void check_start(const ended_start& start);
    asio::awaitable<void> wait_for_workers(std::size_t count);
    void check_wait(const wait& ended);
    void check_failed_wait(const wait& ended, const error& failure);
    asio::awaitable<void> inspect_all();
    void check_together(const std::vector<pool_status>& all);

    void end();
    asio::awaitable<void> shut_down();
    asio::awaitable<void> shut_down_pool();
    asio::awaitable<void> shut_down_manager();
    void check_shutdown_time(time_point asked);
    void destroy();
    void drop_leases();

    world& world_;
    std::deque<sim_pool> pools_;
    std::optional<pool> pool_;              ///< in a world without a manager
    std::optional<manager_script> managed_; ///< in one with a manager
    std::unique_ptr<pool_manager> manager_;
    subscription listening_;
    std::size_t open_ = 0; ///< operations that have not ended
    std::map<std::uint64_t, wait> waits_;
    std::uint64_t last_wait_ = 0;
    std::vector<ended_start> ended_starts_; ///< not compared yet
};

} // namespace skep::simulation
