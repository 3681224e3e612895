// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A pool that grows with its load and shrinks again. To scale a pool of your own, copy configure().

#include "../common.hpp"
#include "burst.hpp"
#include "chart.hpp"

#include <boost/asio/this_coro.hpp>

#include <iostream>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t fewest_workers = 2;
constexpr std::size_t most_workers = 20;
constexpr std::size_t peak_wanted = 10; // the peak must exceed this

/// The sample measures often and cools down quickly, to end within half a minute.
skep::pool_config configure(const std::string& python) {
    auto config = skep::pool_config::python(SAMPLE_DIR "/worker.py", python);
    config.name = "scaling";
    config.workers = fewest_workers;
    config.min_ready = fewest_workers;
    config.scaling.min = fewest_workers;
    config.scaling.max = most_workers;
    config.scaling.interval = 500ms;
    config.scaling.cool_down = 2s;
    config.queue.timeout = 0s;                 // callers wait while the pool grows
    config.log_level = skep::log_level::error; // the chart shows the rest
    return config;
}

asio::awaitable<void> make_calls(burst& load, chart& picture) {
    co_await load.run();
    picture.finish();
}

asio::awaitable<void> demonstrate(skep::pool& pool, burst& load, chart& picture) {
    co_await pool.start();
    std::vector<asio::awaitable<void>> tasks;
    tasks.push_back(picture.run());
    tasks.push_back(make_calls(load, picture));
    co_await run_together(std::move(tasks));
}

void print_summary(const burst& load, const chart& picture, const skep::pool_status& status) {
    const auto& counters = status.counters;
    std::cout << "\npeak: " << picture.peak() << " workers, after " << seconds(picture.time_to_peak())
              << "; back to " << fewest_workers << " within " << seconds(picture.time_to_return())
              << " of the last answer\n"
              << "calls:   " << counters.submitted << " submitted = " << counters.succeeded << " succeeded + "
              << counters.failed << " failed; " << load.succeeded() << " right answers\n"
              << "workers: " << counters.workers_started << " started = " << counters.workers_removed
              << " removed + " << counters.workers_lost << " lost + " << status.live << " that serve\n"
              << "scaled:  " << counters.scale_ups << " times up, " << counters.scale_downs
              << " times down\n";
}

bool verify(const burst& load, const chart& picture, const skep::pool_status& status,
            const skep::shutdown_report& shutdown) {
    const auto& counters = status.counters;
    const bool within_limits = picture.fewest() >= fewest_workers && picture.largest() <= most_workers;
    const bool scaled = picture.peak() > peak_wanted && picture.has_returned();
    const bool answered = load.succeeded() == load.planned();
    const bool adds_up =
        counters.submitted == load.planned() && counters.succeeded == load.planned() &&
        counters.failed == 0 &&
        counters.workers_started == counters.workers_removed + counters.workers_lost + status.live;
    if (!load.failure().empty()) {
        std::cout << "\nthe first call that failed: " << load.failure() << '\n';
    }
    const bool all_is_well = within_limits && scaled && answered && adds_up && shutdown.clean();
    std::cout
        << (all_is_well
                ? "\nall is well: the pool grew and shrank within its limits, and every call succeeded\n"
                : "\nFAILED: not all went as it should\n");
    return all_is_well;
}

asio::awaitable<bool> show(std::string python, stop_signals& stop) {
    const auto executor = co_await asio::this_coro::executor;
    skep::pool pool(executor, configure(python));
    burst load(pool);
    chart picture(pool, skep::size_limits(fewest_workers, most_workers));
    auto job = demonstrate(pool, load, picture);
    const auto problem = co_await until_stopped(std::move(job), stop);
    if (stop.received()) {
        std::cout << "\nstopping ..." << std::endl;
    } else if (!problem.empty()) {
        std::cout << "\nFAILED: " << problem << std::endl;
    }
    const auto status = co_await pool.status();
    const auto shutdown = co_await pool.shutdown();
    if (picture.has_returned()) {
        print_summary(load, picture, status);
    }
    print_shutdown(shutdown);
    co_return picture.has_returned() && verify(load, picture, status, shutdown);
}

} // namespace

int main(int argc, char** argv) {
    return run_sample("autoscale", std::vector<std::string>(argv + 1, argv + argc), show);
}
