// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/oracle_templates.hpp"

#include <algorithm>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

// The pool counts an end from when its spawner has time to notice it.
constexpr duration longest_job = 6s;

} // namespace

bool oracle_templates::has_failed_often(duration slack) const {
    const auto recent = std::count_if(failures_.begin(), failures_.end(), [&](time_point each) {
        return world_.now() - each < config_.restart.window + slack;
    });
    return recent >= 2;
}

/// Workers and templates stay as they are then.
bool oracle_templates::is_renewal_that_fails() const {
    return renewal_ && !config_.launch.preload_fallback && current_ != nullptr;
}

void oracle_templates::count_failure(template_record& which) {
    has_failed_in_job_ = true;
    if (!std::exchange(which.is_counted, true)) {
        failures_.push_back(world_.now());
    }
}

void oracle_templates::on_job_begun() {
    is_at_job_ = true;
    has_failed_in_job_ = false;
    foreign_.clear();
}

void oracle_templates::on_launch_begun() {
    if (renewal_ || world_.has_lacked_memory()) {
        return;
    }
    if (current_ != nullptr && !current_->ended) {
        wrong("a template is made, though " + current_->name() + " forks workers");
    }
    if (is_refused_) {
        wrong("a template is made, though the last one has objected");
    }
    if (has_failed_often()) {
        wrong("a template is made, though two have failed a moment ago");
    }
    if (is_closed_) {
        wrong("a template is made, though the pool has ended");
    }
}

std::shared_ptr<template_record> oracle_templates::on_made() {
    auto fresh = std::make_shared<template_record>();
    fresh->number = all_.size() + 1;
    fresh->script = script_;
    fresh->launched = world_.now();
    draw_template(*fresh, world_.chance, weather_);
    all_.push_back(fresh);
    world_.trace(fresh->name() + " is made: " + name_of(fresh->what));
    return fresh;
}

void oracle_templates::on_ready(template_record& which) {
    world_.trace(which.name() + " is ready");
    which.ready = world_.now();
    current_ = &which;
    is_refused_ = false;
    ++made_ready_;
    forget_failures_before_renewal();
}

void oracle_templates::on_objected(template_record& which) {
    world_.trace(which.name() + " objects");
    has_renewal_failed_ = is_renewal_that_fails();
    is_refused_ = !has_renewal_failed_;
    forget_dead();
    forget_failures_before_renewal();
}

/// The template that has died during a renewal was about to go anyway.
void oracle_templates::forget_failures_before_renewal() {
    if (renewal_) {
        failures_.clear();
    }
}

/// A template that has died is no longer to be replaced: that was tried.
void oracle_templates::forget_dead() {
    if (current_ != nullptr && current_->ended) {
        current_ = nullptr;
    }
}

void oracle_templates::on_failed(template_record& which, bool is_late) {
    world_.trace(which.name() + (is_late ? " is late" : " could not be made"));
    has_renewal_failed_ = is_renewal_that_fails();
    if (!has_renewal_failed_) {
        count_failure(which);
        if (is_late) {
            failures_.push_back(world_.now());
        }
    }
    forget_dead();
}

/// The load has cost a worker its start.
void oracle_templates::on_load_cancelled(const template_record& which) {
    const auto longest = config_.start.timeout / 2 + 1ms;
    if (config_.launch.preload_fallback && !is_closed_ && world_.stalled() == 0s &&
        world_.now() > which.launched + longest) {
        wrong(which.name() + " was waited for until there was no time to start without it");
    }
}

void oracle_templates::on_order(const template_record& which) const {
    if (which.is_counted && !which.ended && !world_.has_lacked_memory()) {
        wrong(which.name() + " is to fork, though it has failed to before");
    }
}

void oracle_templates::on_useless(template_record& which) {
    world_.trace(which.name() + " has not forked a worker");
    count_failure(which);
}

void oracle_templates::on_fork_failed(template_record& which) {
    world_.trace(which.name() + " cannot fork a worker");
    if (++which.failed_orders == 2) {
        count_failure(which);
    }
}

void oracle_templates::on_foreign(const std::string& worker) {
    foreign_ = worker;
}

void oracle_templates::on_forked(template_record& by, const std::string& worker) {
    world_.trace(worker + " is forked from " + by.name());
    ++forks_;
    by.failed_orders = 0;
    if (&by != current_ || !by.ready || by.ended) {
        wrong(worker + " was forked from " + by.name() + ", which is not the one to fork from");
    }
    if (by.script < wanted_script_) {
        wrong(worker + " was forked from " + by.name() + ", which has loaded an old script");
    }
}

void oracle_templates::on_executed(const std::string& worker) {
    world_.trace(worker + " starts without a template");
    const bool is_foreign = foreign_ == worker;
    if (!config_.launch.preload_fallback && !is_foreign) {
        wrong(worker + " has started without a template");
    }
    const bool has_none = is_refused_ || has_failed_in_job_ || has_failed_often(longest_job);
    if (!is_foreign && !has_none && !world_.has_lacked_memory()) {
        wrong(worker + " has started without a template, though there could have been one");
    }
}

void oracle_templates::on_renewal_begun() {
    failures_.clear();
    is_refused_ = false;
    renewal_ = script_;
}

void oracle_templates::on_renewal_ended(bool succeeded) {
    if (succeeded) {
        wanted_script_ = *renewal_;
    }
    renewal_.reset();
    has_renewal_failed_ = false;
}

void oracle_templates::on_ended(template_record& which, bool by_host) {
    if (which.ended) {
        return;
    }
    world_.trace(which.name() + (by_host ? " is ended" : " dies"));
    which.ended = world_.now();
    which.was_ended_by_host = by_host;
    if (&which != current_) {
        return;
    }
    if (!by_host) {
        count_failure(which);
    } else if ((!renewal_ || has_renewal_failed_) && !is_closed_ && !which.is_counted &&
               !world_.has_lacked_memory()) {
        wrong(which.name() + " was ended, though nothing is wrong with it");
    }
    if (by_host || has_failed_often()) { // no other one is owed
        current_ = nullptr;
    }
}

/// Everything begins anew.
void oracle_templates::on_closed() {
    failures_.clear();
    is_refused_ = false;
    current_ = nullptr;
}

void oracle_templates::on_event(const events::template_started& told) {
    const auto is_it = [&](const auto& each) { return each->pid() == told.pid && each->ready; };
    if (told_ || std::none_of(all_.begin(), all_.end(), is_it)) {
        wrong("a template was told to have started that has not");
    }
    told_ = told.pid;
    is_told_refused_ = false;
    ++told_starts_;
}

void oracle_templates::on_event(const events::template_ended& told) {
    if (told.pid != 0 && told_ != told.pid && !world_.has_lacked_memory()) {
        wrong("a template was told to have ended that was not told to have started");
    }
    told_ = told.pid == 0 ? told_ : std::nullopt;
    const auto found =
        std::find_if(all_.begin(), all_.end(), [&](const auto& each) { return each->pid() == told.pid; });
    if (told.is_planned && (found == all_.end() || !(*found)->was_ended_by_host)) {
        wrong("the end of a template was told to be planned");
    }
}

void oracle_templates::on_event(const events::template_refused&) {
    if (told_ && !world_.has_lacked_memory()) {
        wrong("workers were told to start without a template, though there is one");
    }
    is_told_refused_ = true;
}

void oracle_templates::check_status(const std::optional<template_status>& said, bool are_events_told) const {
    if (said.has_value() != weather_.is_there) {
        wrong("the status shows a template in a pool without one, or none in a pool with one");
    }
    if (!said || world_.has_lacked_memory()) {
        return;
    }
    if (said->templates != made_ready_ || said->forks != forks_) {
        wrong("the status shows " + std::to_string(said->templates) + " templates and " +
              std::to_string(said->forks) + " forks, but there were " + std::to_string(made_ready_) +
              " and " + std::to_string(forks_));
    }
    const bool is_ready = said->state == template_state::ready;
    const bool is_one_there = current_ != nullptr && !current_->ended;
    if (is_ready ? !may_be_shown(said->pid) : is_one_there || said->pid != 0) {
        wrong("the status shows a template that is not the present one, or shows none though there is one");
    }
    if ((said->state == template_state::refused) == said->objections.empty()) {
        wrong("the status shows objections without a refusal, or a refusal without objections");
    }
    if (are_events_told && !is_at_job_ && !is_closed_) {
        check_told(*said);
    }
}

/// The end of a template is noticed when the spawner has time.
bool oracle_templates::may_be_shown(pid_t pid) const {
    const auto found =
        std::find_if(all_.begin(), all_.end(), [&](const auto& each) { return each->pid() == pid; });
    const bool has_died = found != all_.end() && (*found)->ended && !(*found)->was_ended_by_host;
    return (current_ != nullptr && current_->pid() == pid) || (is_at_job_ && has_died);
}

void oracle_templates::check_told(const template_status& said) const {
    const auto told = told_              ? template_state::ready
                      : is_told_refused_ ? template_state::refused
                                         : template_state::absent;
    const bool may_be_over = told == template_state::refused && said.state == template_state::absent;
    if ((said.state != told && !may_be_over) || told_starts_ != said.templates ||
        (told_ && *told_ != said.pid)) {
        wrong("the status shows a template that is " + std::string(to_string(said.state)) +
              ", but events tell that it is " + std::string(to_string(told)));
    }
}

void oracle_templates::check_rest() const {
    if (is_at_job_ || is_closed_ || world_.has_lacked_memory() || current_ == nullptr) {
        return;
    }
    if (current_->ended && !has_failed_often(longest_job)) {
        wrong(current_->name() + " has died, and the pool does not make another one");
    }
}

void oracle_templates::check_end() const {
    for (const auto& each : all_) {
        if (!each->ended) {
            wrong(each->name() + " was left behind");
        }
    }
}

} // namespace skep::simulation
