// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/sim_spawner.hpp"

#include <utility>

namespace skep::simulation {

sim_spawner::~sim_spawner() {
    if (thread_.joinable()) {
        is_over_ = true;
        turn_of_job_.release();
        thread_.join();
    }
}

void sim_spawner::post(std::function<void()> job) {
    const spared_by_faults here;
    jobs_.push_back(std::move(job));
    if (!thread_.joinable()) {
        thread_ = std::thread([this] { run(); });
    }
    if (jobs_.size() == 1) {
        world_.soon([this, pause = pauses_] { go_on(pause); });
    }
}

void sim_spawner::run() {
    turn_of_job_.acquire();
    while (!is_over_) {
        jobs_.front()();
        jobs_.pop_front();
        ++pauses_;
        if (!jobs_.empty()) {
            world_.soon([this, pause = pauses_] { go_on(pause); });
        }
        turn_of_world_.release();
        turn_of_job_.acquire();
    }
}

void sim_spawner::wait(time_point until) {
    const auto pause = ++pauses_;
    if (until != time_point::max()) {
        world_.at(until, [this, pause] { go_on(pause); });
    }
    turn_of_world_.release();
    turn_of_job_.acquire();
}

void sim_spawner::wake() {
    if (!is_idle()) {
        world_.soon([this, pause = pauses_] { go_on(pause); });
    }
}

/// Lets the job run until it blocks again, if it has not gone on from that pause already.
void sim_spawner::go_on(std::uint64_t pause) {
    if (pause == pauses_ && !is_idle()) {
        ++pauses_;
        switch_to_job();
    }
}

void sim_spawner::switch_to_job() {
    const spared_by_faults here;
    turn_of_job_.release();
    turn_of_world_.acquire();
}

void sim_spawner::finish() {
    while (!is_idle()) {
        ++pauses_;
        switch_to_job();
    }
}

} // namespace skep::simulation
