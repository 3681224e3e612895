// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/sim_forking.hpp"

#include "core/with_detail.hpp"
#include <skep/error.hpp>

#include <boost/asio/post.hpp>

namespace skep::simulation {

sim_forking::sim_forking(world& in, oracle& judge, const pool_context& context, const pool_config& config,
                         const template_climate& weather)
    : world_(in),
      oracle_(judge),
      executor_(context.executor),
      weather_(weather),
      spawner_(in),
      preload_(std::make_shared<preload>(config)),
      news_(context, preload_),
      self_(std::make_shared<sim_forking*>(this)) {}

sim_forking::~sim_forking() {
    close();
}

std::shared_ptr<sim_forking::job> sim_forking::begin(action what) {
    const spared_by_faults here;
    is_closed_ = false;
    oracle_.templates().on_opened();
    auto mine = std::make_shared<job>(executor_);
    std::erase_if(jobs_, [](const auto& each) { return each.expired(); });
    jobs_.push_back(mine);
    spawner_.post([this, mine, what = std::move(what)] { run(*mine, what); });
    return mine;
}

std::shared_ptr<sim_forking::job> sim_forking::begin_launch(const sim_worker& fresh) {
    return begin([this, &fresh](launch_abort& abort) { launch(fresh, abort); });
}

std::shared_ptr<sim_forking::job> sim_forking::begin_renewal() {
    return begin([this](launch_abort& abort) { renew(abort); });
}

void sim_forking::run(job& mine, const action& what) {
    oracle_.templates().on_job_begun();
    try {
        what(mine.abort);
    } catch (const error& problem) {
        mine.problem = problem.info().detail.empty() ? problem.what() : problem.info().detail;
    } catch (const std::exception& problem) {
        mine.problem = problem.what();
    }
    oracle_.templates().on_job_ended();
    mine.is_over = true;
    mine.changed.notify();
}

/// On the spawner, like the next one.
void sim_forking::launch(const sim_worker& fresh, launch_abort& abort) {
    const auto may_fork = preload_->prepare(maker(), fresh.id(), abort);
    if (may_fork && preload_->start({}, fresh.id(), abort)) {
        return;
    }
    oracle_.templates().on_executed(fresh.name());
    const bool hangs = fresh.plan().what == flaw::start_hangs;
    const auto until = hangs ? time_point::max() : world_.now() + fresh.plan().spawn_time;
    while (!abort.is_requested() && world_.now() < until) {
        spawner_.wait(until);
    }
    if (abort.is_requested() || fresh.plan().what == flaw::spawn_fails) {
        throw error(errc::spawn_failed, with_detail("no such program"));
    }
}

void sim_forking::renew(launch_abort& abort) {
    oracle_.templates().on_renewal_begun();
    bool succeeded = false;
    try {
        preload_->renew(maker(), abort);
        succeeded = true;
    } catch (...) {
        oracle_.templates().on_renewal_ended(succeeded);
        throw;
    }
    oracle_.templates().on_renewal_ended(succeeded);
}

template_maker sim_forking::maker() {
    return [this](const worker_id&, launch_abort& abort) -> std::unique_ptr<template_port> {
        if (abort.is_requested()) {
            throw error(errc::spawn_failed, with_detail("was cancelled"));
        }
        const auto on_strand = [this](auto&& what) {
            return [this, weak = std::weak_ptr(self_), what] {
                if (weak.lock()) {
                    asio::post(executor_, [weak, what] {
                        if (const auto still = weak.lock()) {
                            what(**still);
                        }
                    });
                }
            };
        };
        oracle_.templates().on_launch_begun();
        on_strand([](sim_forking& self) { self.news_.publish(); })();
        const auto flaw_of = [this](const std::string& worker) { return oracle_.plan_of(worker).what; };
        return std::make_unique<sim_template>(
            sim_template::surroundings{world_, spawner_, oracle_.templates(), weather_,
                                       on_strand([](sim_forking& self) { self.mend(); }), flaw_of},
            oracle_.templates().on_made());
    };
}

/// A template has ended.
void sim_forking::mend() {
    if (is_closed_) {
        return;
    }
    const spared_by_faults here;
    begin([this](launch_abort& abort) { preload_->mend(maker(), abort); });
    spawner_.post([this] {
        const auto weak = std::weak_ptr(self_);
        asio::post(executor_, [weak] {
            if (const auto still = weak.lock()) {
                (*still)->news_.publish();
            }
        });
    });
}

void sim_forking::abort(job& which) {
    const spared_by_faults here;
    which.abort.request();
    spawner_.wake();
}

/// While a spawner ends its jobs, its pool stands still.
void sim_forking::close() {
    const spared_by_faults here;
    is_closed_ = true;
    oracle_.templates().on_closing();
    for (const auto& each : jobs_) {
        if (const auto one = each.lock()) {
            one->abort.request();
        }
    }
    spawner_.post([this] { preload_->end(); });
    spawner_.finish();
    oracle_.templates().on_closed();
    news_.publish();
}

} // namespace skep::simulation
