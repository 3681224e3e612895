// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/launch_job.hpp"

#include <utility>

namespace skep {

launch_job::launch_job(launcher launch_prefix, std::shared_ptr<launch_recipe> recipe,
                       std::shared_ptr<template_source> source, launch_order new_order)
    : order(std::move(new_order)),
      launch_(std::move(launch_prefix)),
      recipe_(std::move(recipe)),
      source_(std::move(source)) {}

void launch_job::start(guard& process_guard) {
    is_of_template = true;
    const bool may_fork =
        source_ && source_->templates->prepare(source_->launch.with(process_guard), order.worker, abort);
    is_of_template = false;
    auto [spec, kind, shares_memory] = recipe_->plan_for(order);
    group = process_guard.tie(abort);
    wires.emplace(launch_, kind, shares_memory);
    spec.descriptors = wires->for_child();
    spec.leash = {group.host_end(), group.guard_end()};
    auto forked = may_fork ? source_->templates->start(spec, order.worker, abort) : std::nullopt;
    is_forked = forked.has_value();
    child = is_forked ? std::move(*forked) : launch_(spec, abort);
    if (is_forked && !source_->templates->takes_regions()) {
        wires->regions = {};
    }
    program = std::move(spec.executable);
    group.disarm();
    process_guard.entrust(child);
    wires->close_far_ends();
}

void launch_job::release() noexcept {
    wires.reset();
    group = {};
    child = {};
}

} // namespace skep
