// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The unit tests of a service: the pool is real, its workers are functions, and no test waits.

#include "summaries.hpp"
#include <skep/testing.hpp>

#include <iostream>

using namespace std::chrono_literals;

namespace {

const std::string text = "Bees dance. They tell the others where the flowers are.";

/// What each test has: a pool of one fake worker, in virtual time.
struct fixture {
    static skep::pool_config config() {
        skep::pool_config result;
        result.workers = 1;
        result.log_level = skep::log_level::off;
        return result;
    }

    boost::asio::io_context context;
    skep::testing::virtual_time time{context};
    skep::testing::fake_pool workers{context.get_executor(), config()};
};

bool answers() {
    fixture with;
    with.workers.on("summarise", [](skep::worker_call& call) {
        return "In short: " + std::to_string(call.arg<std::string>("text").size()) + " letters";
    });
    with.time.run(with.workers.pool().start());
    summaries service(with.workers.pool());
    return with.time.run(service.summary_of(text)) == "In short: 55 letters";
}

bool falls_back_if_the_model_is_slow() {
    fixture with;
    with.workers.on("summarise", [](skep::worker_call&) -> boost::asio::awaitable<std::string> {
        co_await skep::testing::sleep_for(1min);
        co_return "too late";
    });
    with.time.run(with.workers.pool().start());
    summaries service(with.workers.pool());
    const auto before = with.time.now();
    const auto summary = with.time.run(service.summary_of(text));
    return summary == "Bees dance." && with.time.now() - before < 3s;
}

bool falls_back_if_the_model_crashes() {
    fixture with;
    with.workers.on("summarise",
                    [](skep::worker_call&) -> std::string { throw skep::testing::worker_exit(); });
    with.time.run(with.workers.pool().start());
    summaries service(with.workers.pool());
    return with.time.run(service.summary_of(text)) == "Bees dance.";
}

bool passes_other_errors() {
    fixture with;
    with.workers.on("summarise",
                    [](skep::worker_call&) -> std::string { throw std::runtime_error("no model"); });
    with.time.run(with.workers.pool().start());
    summaries service(with.workers.pool());
    try {
        with.time.run(service.summary_of(text));
    } catch (const skep::error& failure) {
        return failure.kind() == skep::errc::remote_error;
    }
    return false;
}

} // namespace

int main() {
    const std::pair<const char*, bool (*)()> tests[] = {
        {"answers", answers},
        {"falls back if the model is slow", falls_back_if_the_model_is_slow},
        {"falls back if the model crashes", falls_back_if_the_model_crashes},
        {"passes other errors", passes_other_errors},
    };
    int failures = 0;
    for (const auto& [name, test] : tests) {
        const bool is_passed = test();
        failures += is_passed ? 0 : 1;
        std::cout << (is_passed ? "passed: " : "FAILED: ") << name << '\n';
    }
    return failures == 0 ? 0 : 1;
}
