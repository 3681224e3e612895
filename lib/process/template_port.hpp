// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/launcher.hpp"
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace skep {

/// Port: the process of a template, from its launch on. By default a worker_template; the simulation has
/// scripted ones. Used on the spawner. The destructor ends the process, and not the workers forked from it.
class template_port {
public:
    virtual ~template_port() = default;

    virtual pid_t pid() noexcept = 0;

    /// Returns false once the template has ended or is useless.
    virtual bool is_usable() const noexcept = 0;

    /// Returns true if forked workers can have the line for shared memory. Known after await_ready().
    virtual bool takes_regions() const noexcept = 0;

    /// Waits until the script is loaded. Returns why the template must not be forked, empty if it can be;
    /// nullopt if the template is not ready within `limit`. Throws error(spawn_failed) if the template ends,
    /// and after an abort.
    virtual std::optional<std::vector<std::string>> await_ready(duration limit,
                                                                const launch_abort& abort) = 0;

    /// Forks the worker of `spec`, named `worker`. Returns nullopt for a worker that cannot be a fork of this
    /// template: then the template stays usable. Throws error(spawn_failed).
    virtual std::optional<launched_child> fork(const launch_spec& spec, const std::string& worker,
                                               duration limit, const launch_abort& abort) = 0;
};

/// Launches a template, for the start of `worker`. Throws error(spawn_failed).
using template_maker =
    std::function<std::unique_ptr<template_port>(const worker_id& worker, launch_abort& abort)>;

} // namespace skep
