// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/run.hpp"

#include <atomic>
#include <csignal>
#include <random>

namespace skep::test {

namespace {

struct outcome_tally {
    std::atomic<int> succeeded{0};
    std::atomic<int> lost{0};
    std::atomic<int> other{0};
    std::atomic<int> open{0};
};

/// Takes numbers from `next` until `count` and has each echoed; every second call is idempotent and must
/// succeed.
asio::awaitable<void> call_in_a_row(pool& workers, std::atomic<int>& next, int count,
                                    outcome_tally& results) {
    for (int number = next++; number < count; number = next++) {
        const bool idempotent = number % 2 == 0;
        request call = request("echo").arg("value", number).idempotent(idempotent).queue_timeout(60s);
        try {
            const auto answer = co_await workers.execute(std::move(call));
            ++(answer.value == number ? results.succeeded : results.other);
        } catch (const error& e) {
            const bool expected = e.code() == errc::worker_lost && !idempotent;
            ++(expected ? results.lost : results.other);
            if (!expected) {
                BOOST_TEST_MESSAGE("unexpected: " << e.what());
            }
        }
    }
    --results.open;
}

/// Kills a random worker every 50 ms from a thread of its own, as somebody outside would.
class killer {
public:
    killer() : thread_([this] { run(); }) {}
    ~killer() {
        stop_ = true;
        thread_.join();
    }
    int killed() const { return killed_; }

private:
    void run() {
        std::minstd_rand random(42);
        while (!stop_) {
            const auto targets = children();
            if (!targets.empty()) {
                ::kill(targets[random() % targets.size()], SIGKILL);
                ++killed_;
            }
            std::this_thread::sleep_for(50ms);
        }
    }

    std::atomic<bool> stop_{false};
    std::atomic<int> killed_{0};
    std::thread thread_;
};

int chaos_calls() {
    const char* chosen = std::getenv("SKEP_CHAOS_CALLS");
    return chosen != nullptr ? std::atoi(chosen) : 20'000;
}

/// Every call completes exactly once, whatever happens to the workers.
void chaos(int thread_count, int count) {
    outcome_tally results;
    std::atomic<int> next{0};
    run(
        [&](asio::io_context& context) -> asio::awaitable<void> {
            auto config = basic_pool(4);
            config.retry.attempts = 10;
            config.retry.budget = 100'000;
            config.restart.limit = 1'000'000; // so many kills are no sign of a broken script
            pool workers(context.get_executor(), config);
            co_await workers.start();
            {
                killer chaos;
                for (int i = 0; i < 16; ++i) {
                    ++results.open;
                    asio::co_spawn(context, call_in_a_row(workers, next, count, results),
                                   [&](std::exception_ptr e) { results.other += e ? 1 : 0; });
                }
                while (results.open > 0) {
                    co_await pause(10ms);
                }
                BOOST_TEST_MESSAGE("killed " << chaos.killed() << " workers during " << count << " calls");
                BOOST_TEST(chaos.killed() > 0);
            }
            const auto status = co_await workers.status();
            BOOST_TEST(status.counters.submitted == static_cast<std::uint64_t>(count));
            BOOST_TEST(status.counters.succeeded + status.counters.failed ==
                       static_cast<std::uint64_t>(count));
            BOOST_TEST_MESSAGE("lost " << results.lost.load() << ", retried " << status.counters.retried);
            const auto report = co_await workers.shutdown();
            BOOST_TEST(report.clean());
        },
        thread_count);
    BOOST_TEST(results.succeeded + results.lost == count);
    BOOST_TEST(results.other == 0);
}

} // namespace

BOOST_AUTO_TEST_SUITE(chaos_suite)

BOOST_AUTO_TEST_CASE(on_one_thread) {
    chaos(1, chaos_calls());
}

BOOST_AUTO_TEST_CASE(on_four_threads) {
    chaos(4, chaos_calls());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
