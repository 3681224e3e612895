// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A pool of Python workers under a steady load, with one trouble after the other. To heal a pool of your own,
// copy from:
//     main.cpp      the configuration
//     load.cpp      calls that survive the loss of a worker
//     monitor.cpp   the status of a pool

#include "../common.hpp"
#include "load.hpp"
#include "monitor.hpp"
#include "report.hpp"
#include "screen.hpp"
#include "trouble.hpp"

#include <boost/asio/this_coro.hpp>

#include <iostream>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// All times are shorter than in a service, so that the sample ends within half a minute.
skep::pool_config configure(const std::string& python) {
    auto config = skep::pool_config::python(SAMPLE_DIR "/worker.py", python);
    config.name = "healing";
    config.workers = 5;
    config.min_ready = 5;
    config.cancel_grace = 500ms;

    config.heartbeat.interval = 200ms;
    config.heartbeat.timeout = 800ms;
    config.heartbeat.misses = 2;

    config.health_check.interval = 50ms; // under this load, no worker is idle for much longer
    config.health_check.retry_interval = 300ms;
    config.health_check.failures = 3;

    config.recycle.soft_memory = 100 << 20;
    config.recycle.hard_memory = 400 << 20;
    config.recycle.memory_interval = 200ms;

    config.crash_barrier.enabled = true;
    config.crash_barrier.taint = 1s;

    config.stop.drain_timeout = 1s;
    config.stop.shutdown_grace = 500ms;
    config.stop.term_grace = 500ms;

    config.log_level = skep::log_level::error;               // the sample prints its own report
    config.output.handler = [](const skep::output_line&) {}; // only stacks, printed by the sample too
    return config;
}

asio::awaitable<void> make_trouble(troublemaker& maker, steady_load& load, monitor& watch) {
    co_await maker.run();
    load.finish();
    watch.finish();
}

asio::awaitable<void> demonstrate(skep::pool& pool, steady_load& load, monitor& watch, troublemaker& maker) {
    co_await pool.start();
    auto tasks = load.callers();
    tasks.push_back(watch.run());
    tasks.push_back(make_trouble(maker, load, watch));
    co_await run_together(std::move(tasks));
}

bool verify(const steady_load& load, const troublemaker& maker, const skep::pool_status& status,
            const skep::shutdown_report& shutdown) {
    const bool calls_are_fine = load.sent() > 0 && load.right() == load.sent();
    const bool all_is_well = calls_are_fine && maker.is_satisfied() && adds_up(status) && shutdown.clean();
    if (!load.failure().empty()) {
        std::cout << "\nthe first good call that failed: " << load.failure() << '\n';
    }
    std::cout << (all_is_well ? "\nall is well: no good call failed, and each trouble was found and healed\n"
                              : "\nFAILED: not all went as it should\n");
    return all_is_well;
}

asio::awaitable<bool> show(std::string python, stop_signals& stop) {
    const auto executor = co_await asio::this_coro::executor;
    skep::pool pool(executor, configure(python));
    screen output;
    steady_load load(pool);
    monitor watch(pool, load, output);
    troublemaker maker(pool, watch);
    auto job = demonstrate(pool, load, watch, maker);
    const auto problem = co_await until_stopped(std::move(job), stop);
    output.end_table();
    if (stop.received()) {
        output.line("stopping ...");
    } else if (!problem.empty()) {
        output.line("FAILED: " + problem);
    }
    const auto status = co_await pool.status();
    const auto shutdown = co_await pool.shutdown();
    if (!maker.incidents().empty()) {
        print_incidents(maker.incidents());
        print_stacks(maker.incidents());
    }
    std::cout << '\n' << load.summary() << '\n';
    print_counters(status.counters);
    print_shutdown(shutdown);
    co_return !stop.received() && problem.empty() && verify(load, maker, status, shutdown);
}

} // namespace

int main(int argc, char** argv) {
    return run_sample("self_healing", std::vector<std::string>(argv + 1, argv + argc), show);
}
