// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// After workers were killed, and calls timed out, were cancelled and refused: what callers saw, counters,
// figures, events and spans agree.

#include "support/run.hpp"

#include <boost/asio/detached.hpp>

#include <csignal>
#include <map>
#include <random>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(telemetry)

namespace {

constexpr int callers = 24;
constexpr int calls_of_each = 30;

/// What was told, and what callers saw.
struct sums {
    std::map<std::string, std::uint64_t> seen; ///< by those who made the calls
    std::map<std::string, std::uint64_t> finished;
    std::uint64_t started = 0;
    std::uint64_t retried = 0;
    std::uint64_t made = 0;     ///< calls
    std::uint64_t attempts = 0; ///< of calls that are over
    std::uint64_t spans = 0;
    std::uint64_t runs = 0; ///< spans of calls in workers

    void take(const event& what) {
        if (const auto* const over = std::get_if<events::request_finished>(&what)) {
            ++finished[over->outcome];
            attempts += static_cast<std::uint64_t>(over->attempts);
        } else if (const auto* const span = std::get_if<events::span>(&what)) {
            ++(span->kind == "client" ? spans : runs);
        }
        started += std::holds_alternative<events::request_started>(what) ? 1 : 0;
        retried += std::holds_alternative<events::request_retried>(what) ? 1 : 0;
    }

    static std::uint64_t sum_of(const std::map<std::string, std::uint64_t>& counts) {
        std::uint64_t sum = 0;
        for (const auto& [outcome, count] : counts) {
            sum += count;
        }
        return sum;
    }
};

request some_call(std::mt19937& chance) {
    const auto sleep = [](double seconds) { return request("sleep").arg("seconds", seconds); };
    switch (chance() % 8) {
    case 0: return sleep(0.2).timeout(20ms);
    case 1: return sleep(0.02).queue_timeout(1ms);
    case 2: return request("die");
    case 3: return request("die").idempotent(true);
    case 4: return request("fail").arg("message", "no");
    case 5: return sleep(0.01).idempotent(true).session("s" + std::to_string(chance() % 4));
    default: return request("echo").arg("value", 1);
    }
}

asio::awaitable<void> make_calls(pool& workers, unsigned seed, sums& into, int& at_it) {
    std::mt19937 chance(seed);
    for (int i = 0; i < calls_of_each; ++i) {
        std::string outcome = "ok";
        auto running = workers.execute(some_call(chance));
        try {
            co_await std::move(running);
        } catch (const error& failure) {
            outcome = to_string(failure.kind());
        }
        ++into.made;
        ++into.seen[outcome];
    }
    --at_it;
}

/// Calls that nobody waits for any more after a moment, or from the beginning. As many as get into the pool:
/// those that are refused come on top.
asio::awaitable<void> cancel_some(asio::io_context& context, pool& workers, sums& into, int& at_it) {
    for (int i = 0; i < calls_of_each;) {
        const auto given_up = begin_call(context, workers, request("sleep").arg("seconds", 0.05));
        co_await pause(i % 2 == 0 ? 0ms : 10ms);
        given_up->cancel.emit(asio::cancellation_type::terminal);
        const bool ended = co_await is_ended(given_up);
        BOOST_TEST(ended);
        const std::string outcome(given_up->problem ? to_string(given_up->problem->kind()) : "ok");
        ++into.made;
        ++into.seen[outcome];
        if (given_up->problem && given_up->problem->kind() == errc::pool_saturated) {
            co_await pause(5ms);
        } else {
            ++i;
        }
    }
    --at_it;
}

asio::awaitable<void> kill_some(pool& workers, const int& at_it) {
    std::mt19937 chance(1);
    while (at_it > 0) {
        co_await pause(30ms);
        const pool_status status = co_await workers.status();
        const auto& victim = status.workers[chance() % status.workers.size()];
        if (victim.state == worker_state::ready && victim.pid > 0) {
            ::kill(victim.pid, SIGKILL);
        }
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(whatever_happens_everybody_counts_the_same) {
    auto config = quick(basic_pool(4));
    config.queue.limit = 20;
    config.queue.timeout = 200ms;
    config.retry.backoff = {1ms};
    config.restart.initial_backoff = 1ms;
    config.restart.max_backoff = 20ms;
    config.restart.limit = 1'000'000;
    run([&config](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        sums told;
        const auto keep = [&told](const event& what) { told.take(what); };
        const auto watching = workers.events().listen(context.get_executor(), keep, 1'000'000);
        const auto tracing = workers.events().listen<events::span>(context.get_executor(), keep, 1'000'000);
        co_await workers.start();
        int at_it = callers + 1;
        for (unsigned seed = 0; seed < callers; ++seed) {
            asio::co_spawn(context, make_calls(workers, seed, told, at_it), asio::detached);
        }
        asio::co_spawn(context, cancel_some(context, workers, told, at_it), asio::detached);
        co_await kill_some(workers, at_it);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());

        const pool_metrics metrics = co_await workers.metrics();
        const auto& counters = metrics.status.counters;
        const auto calls = metrics.calls();
        const auto made = told.made;
        auto are_all_told = [&] { return sums::sum_of(told.finished) == made && told.spans == made; };
        const bool all_told = co_await eventually(are_all_told);
        BOOST_TEST(all_told);
        BOOST_TEST(sums::sum_of(told.seen) == made);
        for (const auto& [outcome, count] : told.seen) {
            BOOST_TEST(told.finished[outcome] == count, outcome);
        }
        BOOST_TEST(counters.submitted == made);
        BOOST_TEST(counters.succeeded == told.finished["ok"]);
        BOOST_TEST(counters.failed == made - told.finished["ok"]);
        BOOST_TEST(counters.retried == told.retried);
        BOOST_TEST(calls.succeeded == counters.succeeded);
        BOOST_TEST(calls.failures() == counters.failed);
        for (const auto& [code, count] : calls.failed) {
            BOOST_TEST(count == told.finished[std::string(to_string(code))], to_string(code));
        }
        BOOST_TEST(calls.run_time.count() == told.runs);
        BOOST_TEST(told.started >=
                   told.attempts); // one that no worker had begun is sent again, and that is no attempt
        for (const auto* outcome :
             {"ok", "timeout", "cancelled", "worker_lost", "remote_error", "pool_saturated"}) {
            BOOST_TEST(told.seen[outcome] > 0u, outcome);
        }
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
