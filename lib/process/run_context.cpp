// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/run_context.hpp"

#include "policy/wait_plan.hpp"
#include "process/usable_cpus.hpp"

#include <chrono>
#include <sched.h>

namespace skep {

namespace {

using std::chrono::steady_clock;

/// Waits for work by yielding; runs work that comes. Returns false after a try in vain.
bool run_by_yielding(asio::io_context& context, wait_plan& plan) {
    const auto begin = steady_clock::now();
    for (auto before = begin;;) {
        ::sched_yield();
        const auto after = steady_clock::now();
        if (context.poll() > 0) {
            plan.found(after - begin);
            return true;
        }
        if (context.stopped() || !wait_plan::continues(after - begin, after - before)) {
            plan.tried_in_vain(after - begin);
            return context.stopped();
        }
        before = after;
    }
}

void run_adaptively(asio::io_context& context) {
    wait_plan plan;
    while (!context.stopped()) {
        if (context.poll() > 0) {
            continue;
        }
        const auto idle = steady_clock::now();
        if (plan.has_prospects(idle) && run_by_yielding(context, plan)) {
            continue;
        }
        context.run_one();
        plan.slept(steady_clock::now() - idle);
    }
}

} // namespace

void run_context(asio::io_context& context, wait_mode mode) {
    if (mode == wait_mode::adaptive && usable_cpus() > 1) {
        run_adaptively(context);
    } else {
        context.run();
    }
}

} // namespace skep
