// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/sim_runtime.hpp"

#include "core/with_detail.hpp"
#include <skep/error.hpp>

#include <algorithm>

namespace skep::simulation {

using namespace std::chrono_literals;

sim_process::sim_process(world& in, const strand& executor, std::shared_ptr<sim_worker> script)
    : world_(in), script_(std::move(script)), ended_(executor), group_ended_(executor), finished_(executor) {}

sim_process::~sim_process() {
    const spared_by_faults here;
    script_->process_ = nullptr;
}

asio::awaitable<void> sim_process::ended() {
    bool goes_on = true;
    while (goes_on && !script_->exit_noticed && !script_->was_abandoned) {
        goes_on = co_await ended_.wait();
    }
    script_->end_told = true;
}

void sim_process::terminate() noexcept {
    const spared_by_faults here;
    script_->terminate();
}

void sim_process::kill() noexcept {
    const spared_by_faults here;
    script_->kill();
}

void sim_process::signal(int number) noexcept {
    const spared_by_faults here;
    script_->signal(number);
}

exit_status sim_process::reap() noexcept {
    const spared_by_faults here;
    script_->reaps += script_->was_ended_now ? 0 : 1; // else that was done
    if (!script_->exit_noticed) {
        world_.violated(script_->name() + " was reaped before it had ended");
    }
    return script_->status;
}

asio::awaitable<void> sim_process::end_group() {
    const auto moment = world_.now() + 200ms;
    if (script_->has_company && script_->company_ends > world_.now()) {
        co_await group_ended_.wait(std::min(script_->company_ends, moment));
    }
    if (script_->exited) {
        script_->end_company();
    }
}

asio::awaitable<void> sim_process::finish(time_point deadline) {
    const bool was_finished = std::exchange(script_->was_finished, true);
    if (world_.chance.chance(0.2) && !was_finished) { // somebody else holds its output open
        co_await finished_.wait(deadline);
    }
}

void sim_process::abandon() noexcept {
    const spared_by_faults here;
    script_->was_abandoned = true;
    script_->has_company = false;
    ended_.notify();
}

void sim_process::end_now() noexcept {
    const spared_by_faults here;
    script_->was_ended_now = true;
    script_->exit(exit_status::signalled(9), false);
    script_->end_company();
    script_->reaps = std::max(script_->reaps, 1);
}

sim_runtime::sim_runtime(world& in, oracle& judge, const pool_context& context, const climate& weather,
                         const template_climate& templates, const pool_config& config)
    : world_(in), oracle_(judge), executor_(context.executor), weather_(weather), config_(config) {
    const spared_by_faults here;
    oracle_.runtimes += 1;
    if (config.launch.preload) {
        forking_ = std::make_unique<sim_forking>(in, judge, context, config, templates);
    }
}

sim_runtime::~sim_runtime() {
    oracle_.runtimes -= 1;
}

asio::awaitable<worker_link> sim_runtime::start(launch_order order) {
    auto& fresh = oracle_.add_worker(std::move(order), weather_, config_);
    const auto mine = begin_start(fresh.id());
    if (forking_) {
        mine->job = forking_->begin_launch(fresh);
        auto waiting = await_job(mine);
        co_await std::move(waiting);
    } else {
        auto starting = start_alone(fresh, mine);
        co_await std::move(starting);
    }
    launches_.erase(fresh.id());
    co_return finish_start(fresh, *mine);
}

asio::awaitable<void> sim_runtime::start_alone(sim_worker& fresh, std::shared_ptr<launch> mine) {
    const bool hangs = fresh.plan().what == flaw::start_hangs;
    const auto until = hangs ? time_point::max() : world_.now() + fresh.plan().spawn_time;
    while (!mine->cancelled && world_.now() < until) {
        co_await mine->over.wait(until);
    }
}

/// One that was cancelled has a moment to end, if other jobs of the spawner let it.
asio::awaitable<void> sim_runtime::await_job(std::shared_ptr<launch> mine) {
    const auto job = mine->job;
    while (!mine->cancelled && !job->is_over) {
        co_await job->changed.wait();
    }
    const auto limit = world_.now() + 1s;
    while (!job->is_over && world_.now() < limit) {
        forking_->abort(*job);
        co_await job->changed.wait(limit);
    }
    forking_->news().publish();
}

asio::awaitable<void> sim_runtime::renew() {
    if (forking_) {
        const auto job = forking_->begin_renewal();
        while (!job->is_over) {
            co_await job->changed.wait();
        }
        forking_->news().publish();
        if (!job->problem.empty()) {
            throw error(errc::spawn_failed, with_detail(std::string(job->problem)));
        }
    }
}

void sim_runtime::on_warning(std::function<void(const std::string&)> receiver) {
    if (forking_) {
        forking_->news().on_warning(std::move(receiver));
    }
}

std::optional<template_status> sim_runtime::look_at_template() const {
    return forking_ ? std::optional(forking_->templates().status()) : std::nullopt;
}

std::shared_ptr<sim_runtime::launch> sim_runtime::begin_start(const worker_id& which) {
    const spared_by_faults here;
    auto mine = std::make_shared<launch>(executor_);
    launches_.emplace(which, mine);
    return mine;
}

worker_link sim_runtime::finish_start(sim_worker& fresh, const launch& mine) {
    const spared_by_faults here;
    const bool cancelled = mine.cancelled;
    const bool failed =
        mine.job ? !mine.job->is_over || !mine.job->problem.empty() : fresh.plan().what == flaw::spawn_fails;
    if (cancelled || failed) {
        fresh.start_failed = true;
        world_.trace(fresh.name() + " cannot be started");
        error_info info;
        info.detail = cancelled ? "given up" : "no such program";
        throw error(errc::spawn_failed, std::move(info));
    }
    return fresh.connect(executor_);
}

void sim_runtime::cancel_start(const worker_id& which) noexcept {
    const spared_by_faults here;
    const auto found = launches_.find(which);
    if (found != launches_.end()) {
        cancel(*found->second);
    }
}

void sim_runtime::cancel(launch& which) {
    which.cancelled = true;
    (which.job ? which.job->changed : which.over).notify();
}

void sim_runtime::close() {
    const spared_by_faults here;
    for (const auto& each : launches_) {
        cancel(*each.second);
    }
    if (forking_) {
        forking_->close();
    }
}

} // namespace skep::simulation
