// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "simulation/oracle.hpp"
#include "simulation/world.hpp"
#include <skep/initialization_delegate.hpp>
#include <skep/pool.hpp>

#include <map>

namespace skep::simulation {

/// The user's part in the start and the end of workers: takes its time, makes calls, fails and hangs.
class sim_delegate final : public initialization_delegate {
public:
    sim_delegate(world& in, oracle& judge, std::uint64_t seed) : world_(in), oracle_(judge), chance_(seed) {}

    asio::awaitable<void> before_first_worker() override;
    asio::awaitable<launch_options> before_launch(worker_id worker, launch_options planned) override;
    asio::awaitable<void> warm_up(worker_id worker, call_interface& calls) override;
    asio::awaitable<void> after_end(worker_exit end) override;

    /// What is wrong with how it was called, now that the pool is gone; empty if nothing is.
    std::string complaint() const;

private:
    enum class stage { planned, warm, ended };

    asio::awaitable<void> pause(duration span);
    void enter(const worker_id& worker, stage next);

    world& world_;
    oracle& oracle_;
    dice chance_;
    std::map<worker_id, stage> stages_;
    std::string complaint_;
};

} // namespace skep::simulation
