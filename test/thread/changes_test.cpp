// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Everything that changes a pool, at random and at once, while calls go on and workers are killed.

#include "support/load_of.hpp"
#include "support/run.hpp"

#include <atomic>
#include <csignal>
#include <random>
#include <stop_token>
#include <thread>

namespace skep::test {

namespace {

struct score {
    std::atomic<int> answered{0};
    std::atomic<int> unexpected{0};
    std::atomic<int> open{0};
    std::atomic<bool> stop{false};
};

asio::awaitable<void> keep_calling(pool& workers, score& results) {
    for (int number = 0; !results.stop; ++number) {
        request call = request("echo").arg("value", number).idempotent(true).queue_timeout(60s);
        try {
            const auto answer = co_await workers.execute(std::move(call));
            ++(answer.value == number ? results.answered : results.unexpected);
        } catch (const error& e) {
            ++results.unexpected;
            BOOST_TEST_MESSAGE("unexpected: " << e.what());
        }
    }
    --results.open;
}

/// A random worker of the pool, which may be gone by now.
asio::awaitable<worker_id> any_worker(pool& workers, std::minstd_rand& random) {
    const auto status = co_await workers.status();
    const auto& all = status.workers;
    co_return all.empty() ? worker_id{} : all[random() % all.size()].id;
}

asio::awaitable<void> change_something(pool& workers, std::minstd_rand& random) {
    const auto target = co_await any_worker(workers, random);
    switch (random() % 8) {
    case 0: co_await workers.restart(target); break;
    case 1: co_await workers.suspend(target); break;
    case 2: co_await workers.suspend(); break;
    case 3: co_await workers.rolling_restart(); break;
    case 4: {
        const size_limits limits(1 + random() % 3, 3 + random() % 4);
        co_await workers.resize(limits);
        break;
    }
    case 5: {
        const auto targets = children();
        if (!targets.empty()) {
            ::kill(targets[random() % targets.size()], random() % 4 == 0 ? SIGSTOP : SIGKILL);
        }
        break;
    }
    default: co_await workers.resume(); break;
    }
}

asio::awaitable<void> keep_changing(pool& workers, score& results, unsigned seed) {
    std::minstd_rand random(seed);
    while (!results.stop) {
        try {
            co_await change_something(workers, random);
        } catch (const error& e) {
            const bool expected = e.code() == errc::unknown_worker || e.code() == errc::restart_failed ||
                                  e.code() == errc::cancelled; // resumed by the other
            results.unexpected += expected ? 0 : 1;            // Boost.Test's checks are for one thread
            if (!expected) {
                BOOST_TEST_MESSAGE("unexpected: " << e.what());
            }
        }
        const std::chrono::milliseconds rest(random() % 30);
        co_await pause(rest);
    }
    --results.open;
}

pool_config restless_pool() {
    auto config = quick(basic_pool(3));
    config.start.timeout = 5s; // a restart waits that long for one that is frozen as it starts
    config.scaling.min = 2;
    config.scaling.max = 6;
    config.scaling.interval = 100ms;
    config.scaling.cool_down = 200ms;
    config.scaling.target_queue_delay = 5ms;
    config.recycle.calls = 200;
    config.recycle.soft_memory = 64u << 20;
    config.recycle.memory_interval = 50ms;
    config.recycle.max_recycling = 2;
    config.health_check.interval = 20ms;
    config.heartbeat.interval = 100ms;
    config.heartbeat.timeout = 300ms;
    config.restart.limit = 1'000'000;
    config.retry.attempts = 100;
    config.retry.budget = 100'000;
    config.retry.backoff = {0ms, 10ms};
    return config;
}

void check_sums(const pool_status& status) {
    const auto& c = status.counters;
    BOOST_TEST(c.submitted == c.succeeded + c.failed + status.queued + status.in_flight);
    BOOST_TEST(c.workers_started == c.workers_lost + c.workers_replaced + c.workers_recycled +
                                        c.workers_removed + status.live + status.retiring);
    BOOST_TEST_MESSAGE(c.succeeded << " calls; workers lost " << c.workers_lost << ", replaced "
                                   << c.workers_replaced << ", recycled " << c.workers_recycled
                                   << ", removed " << c.workers_removed << "; retried " << c.retried
                                   << ", scaled " << c.scale_ups << " up " << c.scale_downs << " down");
}

/// Reads the load from a thread of its own. Each figure by itself is right at all times.
class load_reader {
public:
    load_reader(const pool& workers, score& results, std::size_t callers)
        : thread_([&workers, &results, callers](const std::stop_token& stop) {
              constexpr std::size_t most_places = 1000; // far beyond what the pool may have
              while (!stop.stop_requested()) {
                  const auto load = workers.load();
                  results.unexpected += load.in_flight > callers || load.places > most_places ? 1 : 0;
                  std::this_thread::yield();
              }
          }) {}

private:
    std::jthread thread_;
};

void change_for(duration span, int thread_count) {
    score results;
    run(
        [&](asio::io_context& context) -> asio::awaitable<void> {
            pool workers(context.get_executor(), restless_pool());
            co_await workers.start();
            const load_reader reader(workers, results, 8);
            const auto count = [&](std::exception_ptr e) { results.unexpected += e ? 1 : 0; };
            for (unsigned i = 0; i < 11; ++i) {
                ++results.open;
                i < 8 ? asio::co_spawn(context, keep_calling(workers, results), count)
                      : asio::co_spawn(context, keep_changing(workers, results, i), count);
            }
            co_await pause(span);
            results.stop = true;
            while (results.open > 0) { // a suspended pool answers nobody
                co_await workers.resume();
                co_await pause(10ms);
            }
            const auto status = co_await workers.status();
            check_sums(status);
            const auto report = co_await workers.shutdown();
            BOOST_TEST(report.clean());
            BOOST_TEST(text_of_load(workers.load()) == text_of_load(load_view()));
        },
        thread_count);
    BOOST_TEST(results.unexpected == 0);
    BOOST_TEST(results.answered > 0);
}

} // namespace

BOOST_AUTO_TEST_SUITE(changes_suite)

BOOST_AUTO_TEST_CASE(on_one_thread) {
    change_for(3s, 1);
}

BOOST_AUTO_TEST_CASE(on_four_threads) {
    change_for(3s, 4);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
