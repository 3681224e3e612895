// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/preload.hpp"

#include "core/with_detail.hpp"

#include <chrono>
#include <utility>

namespace skep {

namespace {

using std::chrono::steady_clock;

/// Longest wait for the end of a nursery without workers.
constexpr std::chrono::milliseconds to_end_nursery(800);

std::string joined(const std::vector<std::string>& objections) {
    std::string text;
    for (const auto& each : objections) {
        text += (text.empty() ? "" : "; ") + each;
    }
    return text;
}

/// Ends the template, and its nursery unless workers of the template are left: then the last one does.
void discard(std::unique_ptr<worker_template> ending) noexcept {
    if (ending) {
        const auto home = ending->home();
        ending.reset();
        if (home.use_count() == 1) {
            home->end(to_end_nursery);
        }
    }
}

/// Returns the objections of the template. Discards a template that fails.
std::vector<std::string> await_ready(std::unique_ptr<worker_template>& candidate, duration limit,
                                     const launch_abort& abort) {
    try {
        return candidate->await_ready(limit, abort);
    } catch (const error&) {
        discard(std::move(candidate));
        throw;
    }
}

} // namespace

preload::preload(const pool_config& config, launcher launch, std::function<template_plan()> make_plan,
                 output_taker take_output)
    : pool_(config.name),
      falls_back_(config.launch.preload_fallback),
      limit_(config.start.timeout),
      launch_(std::move(launch)),
      make_plan_(std::move(make_plan)),
      take_output_(std::move(take_output)),
      life_(config.restart.window) {}

bool preload::prepare(guard& process_guard, const worker_id& worker, launch_abort& abort) {
    if (template_ && !template_->is_usable()) {
        lose("it has ended");
    }
    if (life_.next(steady_clock::now()) == template_step::make) {
        try {
            install(process_guard, worker, abort);
        } catch (const error& problem) {
            if (abort.is_requested()) { // says nothing about the template
                throw;
            }
            lose(problem.info().detail);
            if (!falls_back_) {
                throw;
            }
        }
    }
    if (!life_.is_ready() && !falls_back_) {
        throw error(errc::spawn_failed,
                    with_detail("the template must not be forked: " + joined(status().objections)));
    }
    return life_.is_ready();
}

std::optional<launched_child> preload::start(const launch_spec& spec, const worker_id& worker,
                                             const launch_abort& abort) {
    try {
        auto child = template_->fork(spec, to_string(worker), limit_, abort);
        const std::lock_guard lock(mutex_);
        status_.forks += child ? 1 : 0;
        return child;
    } catch (const error& problem) {
        if (!template_->is_usable()) {
            lose(problem.info().detail);
        }
        throw;
    }
}

void preload::renew(guard& process_guard, launch_abort& abort) {
    life_.renew();
    try {
        install(process_guard, {pool_, 0, 0}, abort);
    } catch (const error& problem) {
        if (template_) { // goes on
            life_.on_ready();
            report(events::template_ended{pool_, 0, false, problem.info().detail});
        } else {
            lose(problem.info().detail);
        }
        if (!falls_back_ || abort.is_requested()) {
            throw;
        }
    }
}

/// Makes a template, and replaces the present template by it.
void preload::install(guard& process_guard, const worker_id& worker, launch_abort& abort) {
    const auto begin = steady_clock::now();
    auto made = launch_template(process_guard, worker, abort);
    auto objections = await_ready(made, limit_, abort);
    const duration preload_time = steady_clock::now() - begin;
    if (template_) {
        report(events::template_ended{pool_, template_->pid(), true,
                                      "replaced by a template with the present script"});
        discard(std::move(template_));
    }
    if (!objections.empty()) {
        discard(std::move(made));
        life_.on_refused();
        refuse(std::move(objections));
        return;
    }
    life_.on_ready();
    template_ = std::move(made);
    report(events::template_started{pool_, template_->pid(), preload_time});
    const std::lock_guard lock(mutex_);
    ++status_.templates;
    status_.pid = template_->pid();
    status_.state = template_state::ready;
    status_.preload_time = preload_time;
    status_.objections.clear();
}

std::unique_ptr<worker_template> preload::launch_template(guard& process_guard, const worker_id& worker,
                                                          launch_abort& abort) {
    auto [spec, nursery_program] = make_plan_();
    auto output = make_pipe_to_here(launch_);
    auto errors = make_pipe_to_here(launch_);
    spec.descriptors[1] = output.there.get();
    spec.descriptors[2] = errors.there.get();
    auto made =
        std::make_unique<worker_template>(launch_, process_guard, nursery_program, std::move(spec), abort);
    take_output_(worker, std::move(output.here), std::move(errors.here));
    return made;
}

/// Workers start without a template.
void preload::refuse(std::vector<std::string> objections) {
    report(events::template_refused{pool_, joined(objections)});
    const std::lock_guard lock(mutex_);
    status_.pid = 0;
    status_.state = template_state::refused;
    status_.objections = std::move(objections);
}

/// The template has ended, is useless, or could not be made.
void preload::lose(const std::string& reason) {
    report(events::template_ended{pool_, template_ ? template_->pid() : 0, false, reason});
    discard(std::move(template_));
    const auto now = steady_clock::now();
    life_.on_end(now);
    if (life_.has_ended_often(now)) {
        refuse({"two templates have ended within restart.window; the last one: " + reason});
        return;
    }
    const std::lock_guard lock(mutex_);
    status_.pid = 0;
    status_.state = template_state::absent;
}

void preload::end() noexcept {
    discard(std::move(template_));
    life_.renew();
    const std::lock_guard lock(mutex_);
    status_.pid = 0;
    status_.state = template_state::absent;
}

template_status preload::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

std::vector<template_event> preload::take_events() {
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
}

void preload::report(template_event event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
}

} // namespace skep
