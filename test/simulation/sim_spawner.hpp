// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/world.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <semaphore>
#include <thread>

namespace skep::simulation {

/// What a spawner does: jobs that block, one after the other. They have a thread, for its stack: it runs only
/// while the world waits for it, so that the world decides everything, and time stands still.
class sim_spawner {
public:
    explicit sim_spawner(world& in) : world_(in) {}

    /// Preconditions: no job is left.
    ~sim_spawner();
    sim_spawner(const sim_spawner&) = delete;
    sim_spawner& operator=(const sim_spawner&) = delete;

    void post(std::function<void()> job);

    /// For jobs: blocks until the time has come, or until somebody wakes it.
    void wait(time_point until);

    /// Whatever the job waits for may have come.
    void wake();

    bool is_idle() const noexcept { return jobs_.empty(); }

    /// Runs all jobs to their ends, while the world stands still.
    void finish();

private:
    void run();
    void go_on(std::uint64_t pause);
    void switch_to_job();

    world& world_;
    std::deque<std::function<void()>> jobs_; ///< the first one is under way
    std::uint64_t pauses_ = 0;               ///< at which the job has blocked; the last one may go on
    bool is_over_ = false;
    std::binary_semaphore turn_of_job_{0};
    std::binary_semaphore turn_of_world_{0};
    std::thread thread_;
};

} // namespace skep::simulation
