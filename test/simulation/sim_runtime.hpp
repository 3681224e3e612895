// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/oracle.hpp"
#include "simulation/sim_forking.hpp"
#include "simulation/sim_worker.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace skep::simulation {

/// The process behind a scripted worker, as the pool sees it.
class sim_process final : public worker_process {
public:
    sim_process(world& in, const strand& executor, std::shared_ptr<sim_worker> script);
    ~sim_process() override;

    void notice_exit() { ended_.notify(); }

    int pid() const noexcept override { return script_->pid(); }
    const std::string& program() const noexcept override { return program_; }
    asio::awaitable<void> ended() override;
    void terminate() noexcept override;
    void kill() noexcept override;
    void signal(int number) noexcept override;
    bool measure(std::int64_t pid) noexcept override { return pid == script_->pid(); }
    std::uint64_t resident_bytes(std::uint64_t) const noexcept override { return script_->resident(); }
    bool saw_oom_kill() const noexcept override { return script_->plan().was_oom_killed; }
    exit_status reap() noexcept override;
    asio::awaitable<void> end_group() override;
    std::string output_tail() const override { return script_->plan().last_words; }
    void add_to_tail(std::string_view) noexcept override {}
    std::uint64_t output_lines_dropped() const noexcept override { return 0; }
    asio::awaitable<void> finish(time_point deadline) override;
    void abandon() noexcept override;
    void end_now() noexcept override;

private:
    world& world_;
    std::shared_ptr<sim_worker> script_;
    const std::string program_;
    wake ended_;
    wake group_ended_;
    wake finished_;
};

/// Starts scripted workers.
class sim_runtime final : public runtime {
public:
    sim_runtime(world& in, oracle& judge, const pool_context& context, const climate& weather,
                const template_climate& templates, const pool_config& config);
    ~sim_runtime() override;

    asio::awaitable<worker_link> start(launch_order order) override;
    void cancel_start(const worker_id& which) noexcept override;
    asio::awaitable<void> renew() override;
    void on_warning(std::function<void(const std::string&)> receiver) override;
    std::optional<template_status> look_at_template() const override;
    void close() override;

private:
    struct launch {
        explicit launch(const strand& executor) : over(executor) {}
        wake over;
        bool cancelled = false;
        std::shared_ptr<sim_forking::job> job; ///< with templates
    };

    std::shared_ptr<launch> begin_start(const worker_id& which);
    asio::awaitable<void> start_alone(sim_worker& fresh, std::shared_ptr<launch> mine);
    asio::awaitable<void> await_job(std::shared_ptr<launch> mine);
    static void cancel(launch& which);
    worker_link finish_start(sim_worker& fresh, const launch& mine);

    world& world_;
    oracle& oracle_;
    strand executor_;
    const climate& weather_;
    const pool_config& config_;
    std::unique_ptr<sim_forking> forking_;                  ///< null without launch.preload
    std::map<worker_id, std::shared_ptr<launch>> launches_; ///< under way
};

} // namespace skep::simulation
