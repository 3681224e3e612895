// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/launch_recipe.hpp"
#include "process/launcher.hpp"
#include "process/leash.hpp"
#include "process/spawner_task.hpp"
#include "process/template_launcher.hpp"
#include "process/worker_connections.hpp"
#include "runtime/runtime.hpp"

#include <memory>
#include <optional>
#include <string>

namespace skep {

/// One launch of a worker. Descriptors are acquired at the start of the launch, so that concurrent launches
/// need only one set.
class launch_job final : public spawner_task {
public:
    launch_job(launcher launch_prefix, std::shared_ptr<launch_recipe> recipe,
               std::shared_ptr<template_source> source, launch_order new_order);

    const launch_order order;
    leash group;
    std::optional<worker_connections> wires;
    launched_child child;
    std::string program;
    bool is_forked = false;

private:
    void start(guard& process_guard) override;
    void release() noexcept override;

    launcher launch_;
    std::shared_ptr<launch_recipe> recipe_;
    std::shared_ptr<template_source> source_; ///< null without launch.preload
};

} // namespace skep
