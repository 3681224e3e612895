// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/run.hpp"

#include <csignal>
#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <utility>

namespace skep::test {

/// Returns the configuration with two workers, for a pool that outlives kill_amid_calls().
inline pool_config ready_for_kills(pool_config config) {
    config = quick(std::move(config));
    config.workers = config.min_ready = 2;
    config.retry.attempts = 10;
    config.retry.budget = 1000;
    config.restart.limit = 1000;
    config.crash_barrier.poison_crashes = 0; // the call is no cause
    return config;
}

inline std::string text_of_problem(const std::exception_ptr& problem) {
    try {
        if (problem) {
            std::rethrow_exception(problem);
        }
    } catch (const std::exception& failure) {
        return failure.what();
    }
    return {};
}

/// Kills workers 40 times, each in the midst of calls. All calls must succeed, with right replies.
/// `make_call`: makes an idempotent call.
inline asio::awaitable<void> kill_amid_calls(pool& workers, std::function<request()> make_call,
                                             std::function<bool(const reply&)> is_right) {
    constexpr int rounds = 40;
    constexpr int calls = 4;
    int answers = 0;
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < calls; ++i) {
            workers.execute(make_call(), [&](const std::exception_ptr& problem, const reply& answer) {
                BOOST_TEST(text_of_problem(problem) == "");
                BOOST_TEST((problem || is_right(answer)));
                ++answers;
            });
        }
        const auto status = co_await workers.status();
        const auto pid = status.workers.at(static_cast<std::size_t>(round) % 2).pid;
        if (pid > 0) {
            ::kill(pid, SIGKILL);
        }
        while (answers < calls * (round + 1)) {
            co_await pause(1ms);
        }
    }
}

} // namespace skep::test
