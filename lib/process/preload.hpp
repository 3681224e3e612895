// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/template_life.hpp"
#include "process/template_port.hpp"
#include <skep/error.hpp>
#include <skep/events.hpp>
#include <skep/pool_config.hpp>
#include <skep/template_status.hpp>

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

/// Starts the workers of a pool with launch.preload from a template, and makes the template when needed. Used
/// on the spawner, except status() and take_events().
class preload {
public:
    explicit preload(const pool_config& config);

    /// Returns true if the next worker is to be started with start(), and makes a template if there is none.
    /// Throws error(spawn_failed) if this fails and if launch.preload_fallback is off.
    bool prepare(const template_maker& make, const worker_id& worker, launch_abort& abort);

    /// Forks the worker. Returns nullopt if it must be started without the template. Throws
    /// error(spawn_failed). Preconditions: prepare() has returned true.
    std::optional<launched_child> start(const launch_spec& spec, const worker_id& worker,
                                        const launch_abort& abort);

    /// Returns true if a worker of start() has the line for shared memory. Preconditions: start() has
    /// returned the worker.
    bool takes_regions() const noexcept { return template_->takes_regions(); }

    /// Replaces the template by a new one, with the present script. If this fails, workers start without a
    /// template. With launch.preload_fallback off, keeps the old template then, unless that has ended, and
    /// throws error(spawn_failed).
    void renew(const template_maker& make, launch_abort& abort);

    /// Replaces a template that has ended, before a worker needs the new one. A template that has never been
    /// ready is left to the next start.
    void mend(const template_maker& make, launch_abort& abort);

    /// Ends the template and its nursery, unless workers of it are left.
    void end() noexcept;

    template_status status() const;
    std::vector<template_event> take_events() noexcept;

private:
    void provide(const template_maker& make, const worker_id& worker, launch_abort& abort);
    void require_way_to_start() const;
    bool has_ended() const noexcept;
    void install(const template_maker& make, const worker_id& worker, launch_abort& abort);
    void use(std::unique_ptr<template_port> new_template, duration preload_time);
    void retire();
    void refuse(std::vector<std::string> objections);
    void show_none(template_state state, std::vector<std::string> objections = {}) noexcept;
    void lose(const error& problem);
    void lose(const std::string& reason);
    void remove(const std::string& reason);
    void report(template_event event);

    const std::string pool_;
    const bool falls_back_;
    const duration limit_; ///< for a template to load its script, and for an order
    template_life life_;
    std::unique_ptr<template_port> template_;
    bool is_missed_ = false;   ///< the last template that was lost had been ready
    mutable std::mutex mutex_; ///< of the members below
    template_status status_;
    std::vector<template_event> events_;
};

} // namespace skep
