// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a pool_manager promises of each of its pools: one that has failed to start is tried again, and says
// why.

#include "simulation/oracle.hpp"

#include <algorithm>

namespace skep::simulation {

using namespace std::chrono_literals;

void oracle::expect_manager(bool restarts_failed_pools) {
    is_managed_ = true;
    is_restarted_ = restarts_failed_pools;
}

/// Without its jitter.
duration oracle::wait_before_next_try() const {
    auto wait = config_.restart.initial_backoff;
    for (int i = 1; i < failed_tries_; ++i) {
        wait = std::min(config_.restart.max_backoff, wait * 2);
    }
    return std::min(wait, config_.restart.max_backoff);
}

/// By the manager, not before its time; or by a user.
void oracle::on_try_begun() {
    const spared_by_faults here;
    world_.trace(config_.name + " is being started");
    const auto now = world_.now();
    if (!tries_.empty() && !out_of_memory()) {
        const auto& last = tries_.back();
        const std::chrono::duration<double> wait = wait_before_next_try();
        const auto least = std::chrono::duration_cast<duration>(wait * (1 - config_.restart.jitter));
        const bool is_by_user = last.ended && last_user_start_ >= *last.ended;
        if (!last.ended || !last.failed) {
            wrong(config_.name + " is started, though the start before that has not failed");
        } else if (!is_by_user && !is_restarted_) {
            wrong(config_.name + " is started again, which nobody has asked for");
        } else if (!is_by_user && now + 1us < *last.ended + least) {
            wrong(config_.name + " is started again too soon after " + std::to_string(failed_tries_) +
                  " failures");
        }
    }
    tries_.push_back({now, std::nullopt, false});
    start_asked_ = now;
}

void oracle::on_try_ended(const std::string& problem) {
    const spared_by_faults here;
    world_.trace(config_.name + " has " + (problem.empty() ? "started" : "not started: " + problem));
    if (tries_.empty()) {
        if (!out_of_memory()) { // the event of the beginning was dropped
            wrong(config_.name + " has come to the end of a start that was not begun");
        }
        return;
    }
    auto& last = tries_.back();
    last.ended = world_.now();
    last.failed = !problem.empty();
    failed_tries_ = last.failed ? failed_tries_ + 1 : 0;
    if (!last.failed) {
        on_started();
        return;
    }
    on_start_failed();
    const auto up = std::count_if(workers_.begin(), workers_.end(), [&](const auto& each) {
        const bool may_have_left =
            each->exited_by_itself || each->did_wrong || may_have_been_overdue(*each) || was_sick(*each);
        return each->started >= last.began && each->ready_seen && !may_have_left;
    });
    if (static_cast<std::size_t>(up) >= config_.min_ready && !shutting_down_ && !late() && !out_of_memory()) {
        wrong(config_.name + " has failed to start, though " + std::to_string(up) + " workers were up");
    }
}

/// At rest: its backoff over, a pool that has failed is tried again.
void oracle::check_tries() const {
    const bool is_due = is_managed_ && is_restarted_ && !tries_.empty() && tries_.back().failed;
    if (!is_due || shutting_down_ || out_of_memory()) {
        return;
    }
    const std::chrono::duration<double> wait = wait_before_next_try();
    const auto most = std::chrono::duration_cast<duration>(wait * (1 + config_.restart.jitter));
    if (!world_.is_in_time(*tries_.back().ended + most, world_.now())) {
        world_.violated(config_.name + " has failed to start and is not tried again");
    }
}

oracle::start_end oracle::first_end_since(time_point asked) const {
    for (const auto& each : tries_) {
        if (each.began >= asked && each.ended) {
            return each.failed ? start_end::failed : start_end::succeeded;
        }
    }
    return start_end::none;
}

/// Once it has started it runs until its end.
bool oracle::may_have_failed_to_start() const {
    const bool has_started = running_ && *running_since_ < world_.now();
    return start_asked_.has_value() && !(is_managed_ && has_started);
}

void oracle::check_start_failure(const std::string& whom, const error& told) {
    const spared_by_faults here;
    if (out_of_memory()) {
        return;
    }
    const std::string text = told.what();
    const auto& detail = told.info().detail;
    if (detail.find("workers came up") == std::string::npos || detail.ends_with(": ")) {
        wrong(whom + " was not told why the pool could not start: " + text);
    }
    if ((detail.find("it is tried again by itself") != std::string::npos) != is_restarted_) {
        wrong(whom + " was told something else of the next start than is true: " + text);
    }
    const auto* const cause = told.info().worker ? find(*told.info().worker) : nullptr;
    const bool is_cause =
        cause != nullptr && (cause->start_failed || !cause->start_returned || cause->is_lost() ||
                             may_have_been_overdue(*cause) || was_sick(*cause) || cause->plan().has_probe);
    if (!is_cause) {
        wrong(whom + " was told of a worker that is well: " + text);
    }
    const bool is_of_last = tries_.empty() || tries_.back().began == world_.now() || cause == nullptr ||
                            cause->started >= tries_.back().began;
    if (is_managed_ && !is_of_last) {
        wrong(whom + " was told of the end of " + cause->name() + ", of an earlier start");
    }
}

std::size_t oracle::up_since(time_point since) const {
    return static_cast<std::size_t>(std::count_if(workers_.begin(), workers_.end(), [&](const auto& each) {
        const bool has_left = each->exited && *each->exited < since && each->end_told;
        return each->ready_seen && !has_left;
    }));
}

bool oracle::may_fail_wait(errc code) const {
    switch (code) {
    case errc::cancelled: return true;
    case errc::shutting_down: return shutting_down_;
    case errc::unavailable: return may_be_unavailable();
    case errc::not_started: return !start_asked_ || start_asked_ == world_.now();
    case errc::start_failed: return !is_restarted_ && may_have_failed_to_start();
    default: return false;
    }
}

void oracle::on_wait_ended(std::uint64_t number, const error* problem) {
    const auto found = waits_.find(number);
    if (found == waits_.end()) {
        return;
    }
    const auto ended = found->second;
    waits_.erase(found);
    if (ended.what != wait::kind::ready || out_of_memory()) {
        return;
    }
    const bool is_told_why =
        problem == nullptr || problem->info().detail.find("lost: ;") == std::string::npos;
    if (!is_told_why) {
        wrong("somebody who waited for workers was not told why there are none: " +
              std::string(problem->what()));
    }
    if (problem != nullptr && !may_fail_wait(problem->kind())) {
        wrong("somebody who waited for " + std::to_string(ended.count) +
              " workers was told: " + problem->what());
    }
    if (problem == nullptr && up_since(world_.now()) < ended.count && !late()) {
        wrong("somebody was told that " + std::to_string(ended.count) + " workers are up, but it is " +
              std::to_string(up_since(world_.now())));
    }
}

} // namespace skep::simulation
