// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/template_life.hpp"
#include "process/worker_template.hpp"
#include <skep/error.hpp>
#include <skep/events.hpp>
#include <skep/pool_config.hpp>
#include <skep/template_status.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace skep {

/// An event of the template of a pool, for the pool's strand.
using template_event =
    std::variant<events::template_started, events::template_ended, events::template_refused>;

/// A template to launch, without its descriptors, and the program of its nursery.
struct template_plan {
    launch_spec spec;
    std::string nursery_program;
};

/// Starts the workers of a pool with launch.preload from a template, and makes the template when needed. Used
/// on the spawner, except status() and take_events().
class preload {
public:
    /// Takes the near ends of the pipes for stdout and stderr of a new template, made for the worker.
    using output_taker = std::function<void(const worker_id& worker, unique_fd output, unique_fd errors)>;

    preload(const pool_config& config, launcher launch, std::function<template_plan()> make_plan,
            output_taker take_output);

    /// Returns true if the next worker is to be started with start(), and makes a template if there is none.
    /// Throws error(spawn_failed) if this fails and if launch.preload_fallback is off.
    bool prepare(guard& process_guard, const worker_id& worker, launch_abort& abort);

    /// Forks the worker. Returns nullopt if it must be started without the template. Throws
    /// error(spawn_failed). Preconditions: prepare() has returned true.
    std::optional<launched_child> start(const launch_spec& spec, const worker_id& worker,
                                        const launch_abort& abort);

    /// Replaces the template by a new one, with the present script. If this fails, keeps the template; throws
    /// error(spawn_failed) if launch.preload_fallback is off.
    void renew(guard& process_guard, launch_abort& abort);

    /// Ends the template and its nursery, unless workers of it are left.
    void end() noexcept;

    template_status status() const;
    std::vector<template_event> take_events();

private:
    void install(guard& process_guard, const worker_id& worker, launch_abort& abort);
    std::unique_ptr<worker_template> launch_template(guard& process_guard, const worker_id& worker,
                                                     launch_abort& abort);
    void refuse(std::vector<std::string> objections);
    void lose(const std::string& reason);
    void report(template_event event);

    const std::string pool_;
    const bool falls_back_;
    const duration limit_; ///< for a template to load its script, and for an order
    launcher launch_;
    std::function<template_plan()> make_plan_;
    output_taker take_output_;
    template_life life_;
    std::unique_ptr<worker_template> template_;
    mutable std::mutex mutex_; ///< of the members below
    template_status status_;
    std::vector<template_event> events_;
};

} // namespace skep
