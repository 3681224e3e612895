// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Sessions in the memory of real workers.

#include "support/run.hpp"

#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <csignal>
#include <random>

namespace skep::test {

namespace {

pool_config session_pool(std::size_t workers) {
    auto config = python_pool("integration/workers/sessions.py", workers);
    config.affinity.mode = affinity_mode::strict_queue;
    config.queue.timeout = 60s;
    return config;
}

struct session_story {
    int sent = 0;
    json::value process;
};

asio::awaitable<void> follow(pool& workers, std::string name, session_story& story) {
    const int number = ++story.sent;
    auto call = request("follow").arg("number", number).session(std::move(name));
    const auto answer = co_await workers.execute(std::move(call));
    const auto& seen = answer.value.as_array();
    if (story.process.is_null()) {
        story.process = seen.at(0);
    }
    if (seen.at(0) != story.process || seen.at(1) != number - 1) {
        BOOST_ERROR("call " << number << " came after " << seen.at(1));
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(affinity)

BOOST_AUTO_TEST_CASE(every_call_of_a_session_runs_on_one_worker_in_the_order_of_submission) {
    constexpr int callers = 64;
    constexpr int calls_each = 1000;
    std::array<session_story, 100> sessions;
    with_pool(session_pool(4), [&](pool& workers) -> asio::awaitable<void> {
        std::mt19937 dice(1);
        int running = callers;
        auto call_often = [&]() -> asio::awaitable<void> {
            for (int i = 0; i < calls_each; ++i) {
                const auto which = dice() % sessions.size();
                auto one = follow(workers, "session-" + std::to_string(which), sessions[which]);
                co_await std::move(one);
            }
            --running;
        };
        const auto executor = co_await asio::this_coro::executor;
        for (int i = 0; i < callers; ++i) {
            asio::co_spawn(executor, call_often(), asio::detached);
        }
        const auto is_over = [&] { return running == 0; };
        const bool all_ended = co_await eventually(is_over, 100s);
        BOOST_TEST(all_ended);
    });
    int total = 0;
    for (const auto& each : sessions) {
        total += each.sent;
    }
    BOOST_TEST(total == callers * calls_each);
}

BOOST_AUTO_TEST_CASE(a_session_whose_worker_was_killed_is_told_and_begins_anew_when_it_is_forgotten) {
    with_pool(quick(session_pool(2)), [](pool& workers) -> asio::awaitable<void> {
        session_story story;
        co_await follow(workers, "s", story);
        kill(story.process.to_number<pid_t>(), SIGKILL);
        const auto is_noticed = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return status.counters.workers_lost > 0;
        };
        co_await eventually(is_noticed);
        auto call = request("follow").arg("number", 2).session("s");
        const auto refusal = co_await failure_of(workers.execute(std::move(call)));
        BOOST_TEST(refusal.errc() == errc::session_worker_unavailable);
        const bool was_known = co_await workers.forget_session("s");
        BOOST_TEST(was_known);
        session_story anew;
        co_await follow(workers, "s", anew);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
