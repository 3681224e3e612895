// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/template_port.hpp"
#include "simulation/behaviour.hpp"
#include "simulation/oracle_templates.hpp"
#include "simulation/sim_spawner.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skep::simulation {

/// The process of a template, as the pool sees it. The pool may still hold one that has ended.
class sim_template final : public template_port {
public:
    struct surroundings {
        world& in;
        sim_spawner& on;
        oracle_templates& judge;
        const template_climate& weather;
        std::function<void()> on_end;
        std::function<flaw(const std::string& worker)> flaw_of; ///< of a worker that is to be forked
    };

    /// Throws error(spawn_failed).
    sim_template(surroundings around, std::shared_ptr<template_record> script);
    ~sim_template() override;

    pid_t pid() noexcept override { return script_->pid(); }
    bool takes_regions() const noexcept override { return false; }
    bool is_usable() const noexcept override { return is_usable_ && !script_->ended; }
    std::optional<std::vector<std::string>> await_ready(duration limit, const launch_abort& abort) override;
    std::optional<launched_child> fork(const launch_spec& spec, const std::string& worker, duration limit,
                                       const launch_abort& abort) override;

private:
    void wait(time_point until, const launch_abort& abort);
    void end_later(duration span);
    void end();
    [[noreturn]] void fail(const std::string& problem);
    [[noreturn]] void give_up(const std::string& problem);

    surroundings around_;
    std::shared_ptr<template_record> script_;
    bool is_usable_ = true;
};

} // namespace skep::simulation
