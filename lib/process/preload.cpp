// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/preload.hpp"

#include "core/clock.hpp"
#include "core/with_detail.hpp"

#include <new>
#include <utility>

namespace skep {

namespace {

/// The template has not loaded its script in time.
class template_is_late : public error {
public:
    using error::error;
};

std::string joined(const std::vector<std::string>& objections) {
    std::string text;
    for (const auto& each : objections) {
        text += (text.empty() ? "" : "; ") + each;
    }
    return text;
}

error refusal(const std::vector<std::string>& objections) {
    return error(errc::spawn_failed, with_detail("the template must not be forked: " + joined(objections)));
}

/// A worker that waits for a template in vain needs time to start without it.
duration limit_for_template(const pool_config& config) noexcept {
    return config.launch.preload_fallback ? config.start.timeout / 2 : config.start.timeout;
}

std::string late_text(bool falls_back) {
    return std::string("the template of the workers was not ready within ") + (falls_back ? "half of " : "") +
           "start.timeout";
}

} // namespace

preload::preload(const pool_config& config)
    : pool_(config.name),
      falls_back_(config.launch.preload_fallback),
      limit_(limit_for_template(config)),
      life_(config.restart.window) {}

bool preload::prepare(const template_maker& make, const worker_id& worker, launch_abort& abort) {
    provide(make, worker, abort);
    require_way_to_start();
    return life_.is_ready();
}

/// Throws if there is neither a template nor a fallback.
void preload::require_way_to_start() const {
    if (!life_.is_ready() && !falls_back_) {
        throw refusal(status().objections);
    }
}

void preload::mend(const template_maker& make, launch_abort& abort) {
    if (template_ || is_missed_) {
        provide(make, {pool_, 0, 0}, abort);
    }
}

/// Makes a template if there is none and if another one may be made.
void preload::provide(const template_maker& make, const worker_id& worker, launch_abort& abort) {
    if (has_ended()) {
        lose("it has ended");
    }
    if (life_.next(clock::now()) != template_step::make) {
        return;
    }
    try {
        install(make, worker, abort);
    } catch (const error& problem) {
        if (abort.is_requested()) { // says nothing about the template
            throw;
        }
        lose(problem);
        if (!falls_back_) {
            throw;
        }
    }
}

std::optional<launched_child> preload::start(const launch_spec& spec, const worker_id& worker,
                                             const launch_abort& abort) {
    try {
        auto child = template_->fork(spec, to_string(worker), limit_, abort);
        if (child) {
            life_.on_fork(true);
            const std::lock_guard lock(mutex_);
            ++status_.forks;
        }
        return child;
    } catch (const error& problem) {
        life_.on_fork(false);
        if (!template_->is_usable() || life_.is_barren()) {
            lose(problem);
        }
        throw;
    }
}

void preload::renew(const template_maker& make, launch_abort& abort) {
    const bool had_ended = has_ended();
    if (had_ended) {
        remove("it has ended");
        show_none(template_state::absent);
    }
    life_.renew();
    try {
        install(make, {pool_, 0, 0}, abort);
    } catch (const error& problem) {
        const bool fails = !falls_back_ || abort.is_requested();
        if (template_ && fails) {
            life_.on_kept();
            report(events::template_ended{pool_, 0, false, problem.info().detail});
        } else { // workers with the present script start without a template
            lose(problem);
            is_missed_ = is_missed_ || had_ended;
        }
        if (fails) {
            throw;
        }
    }
    require_way_to_start();
}

bool preload::has_ended() const noexcept {
    return template_ && !template_->is_usable();
}

/// Makes a template, and replaces the present template by it.
void preload::install(const template_maker& make, const worker_id& worker, launch_abort& abort) {
    const auto begin = clock::now();
    auto made = make(worker, abort);
    auto objections = made->await_ready(limit_, abort);
    if (!objections) {
        throw template_is_late(errc::spawn_failed, with_detail(late_text(falls_back_)));
    }
    if (!objections->empty() && template_ && !falls_back_) { // no worker could start
        throw refusal(*objections);
    }
    retire();
    if (!objections->empty()) {
        made.reset();
        life_.on_refused();
        refuse(std::move(*objections));
        return;
    }
    use(std::move(made), clock::now() - begin);
}

void preload::use(std::unique_ptr<template_port> new_template, duration preload_time) {
    report(events::template_started{pool_, new_template->pid(), preload_time});
    life_.on_ready();
    template_ = std::move(new_template);
    const std::lock_guard lock(mutex_);
    ++status_.templates;
    status_.pid = template_->pid();
    status_.state = template_state::ready;
    status_.preload_time = preload_time;
    status_.objections.clear();
}

/// Ends a template for which there is a new one.
void preload::retire() {
    if (template_) {
        report(events::template_ended{pool_, template_->pid(), true,
                                      "replaced by a template with the present script"});
        template_.reset();
    }
}

/// Workers start without a template.
void preload::refuse(std::vector<std::string> objections) {
    report(events::template_refused{pool_, joined(objections)});
    show_none(template_state::refused, std::move(objections));
}

void preload::show_none(template_state state, std::vector<std::string> objections) noexcept {
    const std::lock_guard lock(mutex_);
    status_.pid = 0;
    status_.state = state;
    status_.objections = std::move(objections);
}

/// The template could not be made or be used. A late one counts twice, because another one could take all the
/// time of the workers that wait for it.
void preload::lose(const error& problem) {
    if (dynamic_cast<const template_is_late*>(&problem) != nullptr) {
        life_.on_end(clock::now());
    }
    lose(problem.info().detail);
}

/// The template has ended, is useless, or could not be made.
void preload::lose(const std::string& reason) {
    remove(reason);
    const auto now = clock::now();
    life_.on_end(now);
    if (life_.has_ended_often(now)) {
        refuse({"two templates have ended within restart.window; the last one: " + reason});
        return;
    }
    show_none(template_state::absent);
}

/// Reports that the template is gone, or could not be made, without counting it.
void preload::remove(const std::string& reason) {
    report(events::template_ended{pool_, template_ ? template_->pid() : 0, false, reason});
    is_missed_ = template_ != nullptr;
    template_.reset();
}

void preload::end() noexcept {
    if (template_) {
        try {
            report(events::template_ended{pool_, template_->pid(), true, "the pool ends"});
        } catch (const std::bad_alloc&) {} // without memory for the event
        template_.reset();
    }
    life_.renew();
    show_none(template_state::absent);
}

template_status preload::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

std::vector<template_event> preload::take_events() noexcept {
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
}

void preload::report(template_event event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
}

} // namespace skep
