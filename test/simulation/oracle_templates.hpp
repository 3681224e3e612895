// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/template_record.hpp"
#include "simulation/world.hpp"
#include <skep/events.hpp>
#include <skep/pool_config.hpp>
#include <skep/template_status.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skep::simulation {

/// Knows the templates of a pool, and what the pool may do with them and tell of them.
class oracle_templates {
public:
    oracle_templates(world& in, const pool_config& config, const template_climate& weather)
        : world_(in), config_(config), weather_(weather) {}

    /// The script has changed: a rolling restart that begins now takes it to the workers.
    void on_new_script() { ++script_; }

    // Acts of the pool.
    void on_job_begun();
    void on_job_ended() { is_at_job_ = false; }
    void on_launch_begun();
    std::shared_ptr<template_record> on_made();
    void on_ready(template_record& which);
    void on_objected(template_record& which);
    void on_failed(template_record& which, bool is_late); ///< to be launched, or to load
    void on_load_cancelled(const template_record& which);
    void on_order(const template_record& which) const;
    void on_useless(template_record& which);     ///< it has not answered, or has ended
    void on_fork_failed(template_record& which); ///< it has said so
    void on_foreign(const std::string& worker);
    void on_forked(template_record& by, const std::string& worker);
    void on_executed(const std::string& worker);
    void on_renewal_begun();
    void on_renewal_ended(bool succeeded);
    void on_closing() { is_closed_ = true; }
    void on_closed();
    void on_opened() { is_closed_ = false; }

    // Acts of the processes.
    void on_ended(template_record& which, bool by_host);

    // Words of the pool.
    void on_event(const events::template_started& told);
    void on_event(const events::template_ended& told);
    void on_event(const events::template_refused& told);
    void check_status(const std::optional<template_status>& said, bool are_events_told) const;

    /// The world is at rest.
    void check_rest() const;
    void check_end() const;

private:
    void wrong(const std::string& what) const { world_.violated(what); }
    bool has_failed_often(duration slack = {}) const;
    void count_failure(template_record& which);
    bool is_renewal_that_fails() const;
    void forget_dead();
    void forget_failures_before_renewal();
    bool may_be_shown(pid_t pid) const;
    void check_told(const template_status& said) const;

    world& world_;
    const pool_config& config_;
    const template_climate& weather_;
    std::uint64_t script_ = 1;
    std::uint64_t wanted_script_ = 1;      ///< of templates that fork from now on
    std::optional<std::uint64_t> renewal_; ///< under way: to this script
    bool has_renewal_failed_ = false;      ///< so that the old template stays
    std::vector<std::shared_ptr<template_record>> all_;
    template_record* current_ = nullptr; ///< that workers are forked from
    bool is_refused_ = false;            ///< the last one that was loaded has objected
    bool is_closed_ = false;
    std::vector<time_point> failures_; ///< since the last renewal
    std::string foreign_;              ///< the worker that the current start has found to be none for a fork
    bool has_failed_in_job_ = false;
    bool is_at_job_ = false;
    std::uint64_t made_ready_ = 0;
    std::uint64_t forks_ = 0;
    std::optional<pid_t> told_; ///< the template that was started, and has not ended, by events
    bool is_told_refused_ = false;
    std::uint64_t told_starts_ = 0;
};

} // namespace skep::simulation
