// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/world.hpp"

#include "async/calling_executor.hpp"
#include "simulation/pipe.hpp"

#include <algorithm>
#include <cstdio>

namespace skep::simulation {

namespace {

// By how much the reactor may be late: it measures in microseconds, and rounds up.
constexpr duration grain = std::chrono::microseconds(2);

} // namespace

world::world(std::uint64_t seed, bool tracing)
    : chance(seed),
      tracing_(tracing),
      origin_(clock::now()),
      context_(std::make_unique<asio::io_context>(1)) {
    asio::use_service<run_queue_keeper>(*context_).run_queues = &run_queues_; // early, to be shut down late
    timers_.emplace(*context_);
    for (std::size_t i = 0; i < callers + most_pools; ++i) {
        run_queues_.emplace_back(*context_);
    }
    const asio::any_io_executor base = run_queue_executor(pool_run_queue());
    allocation_faults::spare_sizes_in([&] {
        const asio::any_io_executor of_pool = strand(base);
        const asio::any_io_executor of_tool = calling_executor(base, nullptr);
    });
}

world::~world() {
    if (context_) {
        destroy_context();
    }
}

void world::at(time_point moment, std::function<void()> what) {
    const spared_by_faults here;
    if (moment <= now()) {
        due_.push_back(std::move(what));
    } else {
        events_.push({moment, next_event_++, std::move(what)});
    }
}

bool world::step() {
    std::array<run_queue*, callers + most_pools> busy{};
    std::size_t run_queues = 0;
    for (auto& each : run_queues_) {
        if (!each.is_empty()) {
            busy[run_queues++] = &each;
        }
    }
    const std::size_t polls = may_poll_ ? 1 : 0;
    const auto all = run_queues + polls + flowing_.size() + due_.size();
    if (all == 0) {
        return false;
    }
    ++steps_;
    auto choice = chance.below(all);
    if (choice < run_queues) {
        if (faults_ > 0 && chance.chance(faults_)) {
            doomed_allocation_ = chance.chance(0.5) ? chance.among(1, 5) : chance.among(1, 60);
        }
        run(*busy[choice]);
        return true;
    }
    choice -= run_queues;
    if (choice < polls) {
        poll();
        return true;
    }
    choice -= polls;
    if (choice < flowing_.size()) {
        flowing_[choice]->move();
        may_poll_ = has_context();
        return true;
    }
    choice -= flowing_.size();
    const auto what = std::move(due_[choice]);
    due_.erase(due_.begin() + static_cast<std::ptrdiff_t>(choice));
    what();
    may_poll_ = has_context();
    return true;
}

void world::run(run_queue& which) {
    const auto nth = std::exchange(doomed_allocation_, 0);
    if (nth > 0) {
        allocation_faults::arm(nth);
    }
    try {
        which.run_one();
    } catch (const std::exception& problem) { // on a real thread it would leave io_context::run()
        allocation_faults::disarm();
        violated(std::string("an exception has left a task: ") + problem.what());
    }
    if (nth > 0 && allocation_faults::disarm()) {
        lacked_memory_ = true;
        trace("an allocation failed");
    }
    may_poll_ = has_context();
}

void world::poll() {
    timers_->release_due();
    context_->restart();
    may_poll_ = context_->poll_one() > 0;
}

bool world::advance() {
    if (!context_) {
        return false;
    }
    const auto next_event = events_.empty() ? time_point::max() : events_.top().moment;
    const auto next = std::min(next_event, timers_->next());
    if (next == time_point::max()) {
        return false;
    }
    if (next > now()) {
        time_.advance(next - now());
    }
    collect_due();
    return true;
}

void world::collect_due() {
    while (!events_.empty() && events_.top().moment <= now()) {
        due_.push_back(events_.top().what);
        events_.pop();
    }
    may_poll_ = has_context();
}

void world::stall(duration span) {
    const auto began = now();
    time_.advance(span);
    stalls_.emplace_back(began, now());
    stalled_ += span;
    trace("the host has stood still");
    collect_due();
}

bool world::is_in_time(time_point due, time_point moment) const noexcept {
    return moment - grain <= due || std::any_of(stalls_.begin(), stalls_.end(), [&](const auto& each) {
               return each.first <= due && due <= each.second && moment - grain <= each.second;
           });
}

void world::destroy_context() {
    timers_.reset();
    context_.reset();
    may_poll_ = false;
}

void world::run_queue_keeper::shutdown() noexcept {
    for (auto& each : *run_queues) {
        each.close();
    }
}

bool world::is_context_idle() {
    context_->restart();
    context_->poll();
    return context_->stopped();
}

void world::violated(std::string what) {
    const spared_by_faults here;
    if (!violation_) {
        violation_ = std::move(what);
        trace("VIOLATION: " + *violation_);
    }
}

void world::trace(std::string_view text) const {
    if (tracing_) {
        const auto micros = age() / std::chrono::microseconds(1);
        std::printf("%6ld.%06ld %6lu  %.*s\n", micros / 1'000'000, micros % 1'000'000,
                    static_cast<unsigned long>(steps_), static_cast<int>(text.size()), text.data());
        std::fflush(stdout);
    }
}

} // namespace skep::simulation
