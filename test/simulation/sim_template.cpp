// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/sim_template.hpp"

#include "core/with_detail.hpp"
#include <skep/error.hpp>

#include <algorithm>

namespace skep::simulation {

using namespace std::chrono_literals;

sim_template::sim_template(surroundings around, std::shared_ptr<template_record> script)
    : around_(std::move(around)), script_(std::move(script)) {
    if (script_->what == template_flaw::cannot_start) {
        around_.judge.on_failed(*script_, false);
        end();
        fail("no such program");
    }
    if (script_->what == template_flaw::dies_loading) {
        end_later(script_->at_time);
    }
}

sim_template::~sim_template() {
    const spared_by_faults here;
    if (!script_->ended) {
        around_.judge.on_ended(*script_, true);
        around_.on_end();
    }
}

/// By itself.
void sim_template::end() {
    around_.judge.on_ended(*script_, false);
    around_.on_end();
}

void sim_template::end_later(duration span) {
    around_.in.after(span, [script = script_, around = around_] {
        if (!script->ended) {
            around.judge.on_ended(*script, false);
            around.on.wake();
            around.on_end();
        }
    });
}

void sim_template::fail(const std::string& problem) {
    throw error(errc::spawn_failed, with_detail(std::string(problem)));
}

void sim_template::give_up(const std::string& problem) {
    is_usable_ = false;
    around_.judge.on_useless(*script_);
    fail(problem);
}

/// Returns early if the template ends, or after an abort.
void sim_template::wait(time_point until, const launch_abort& abort) {
    while (around_.in.now() < until && !abort.is_requested() && !script_->ended) {
        around_.on.wait(until);
    }
}

std::optional<std::vector<std::string>> sim_template::await_ready(duration limit, const launch_abort& abort) {
    const bool hangs = script_->what == template_flaw::hangs_loading;
    const auto loaded = hangs ? time_point::max() : script_->launched + script_->load_time;
    const auto deadline = around_.in.now() + limit;
    wait(std::min(loaded, deadline), abort);
    if (script_->ended) {
        around_.judge.on_failed(*script_, false);
        fail("it has ended before it was ready");
    }
    if (abort.is_requested()) {
        around_.judge.on_load_cancelled(*script_);
        fail("was cancelled");
    }
    if (around_.in.now() < loaded) {
        around_.judge.on_failed(*script_, true);
        return std::nullopt;
    }
    if (script_->what == template_flaw::objects) {
        around_.judge.on_objected(*script_);
        return std::vector<std::string>{"3 threads"};
    }
    around_.judge.on_ready(*script_);
    if (script_->what == template_flaw::dies_later) {
        end_later(script_->at_time);
    }
    return std::vector<std::string>();
}

std::optional<launched_child> sim_template::fork(const launch_spec&, const std::string& worker,
                                                 duration limit, const launch_abort& abort) {
    if (around_.in.chance.chance(around_.weather.foreign)) {
        around_.judge.on_foreign(worker);
        return std::nullopt;
    }
    around_.judge.on_order(*script_);
    const bool is_turn = ++script_->orders == script_->at_order;
    const auto of_worker = around_.flaw_of(worker);
    if (is_turn && script_->what == template_flaw::dies_at_fork) {
        end();
    }
    if ((is_turn && script_->what == template_flaw::freezes_at_fork) || of_worker == flaw::start_hangs) {
        wait(around_.in.now() + limit, abort);
        give_up("the template has not answered");
    }
    if (script_->ended) {
        give_up("the template has ended");
    }
    if (script_->what == template_flaw::fails_forks || of_worker == flaw::spawn_fails) {
        around_.judge.on_fork_failed(*script_);
        fail("fork of the template failed: no");
    }
    around_.judge.on_forked(*script_, worker);
    return launched_child(0, unique_fd(), {});
}

} // namespace skep::simulation
