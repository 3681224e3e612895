// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A service in trouble, for admin/page_test.py: four pools. In the pool "ranking" a worker crashes every five
// seconds, and 30 % of the calls of "score" fail. Runs until Ctrl-C. Usage: incident WORKERS-PER-POOL [TOKEN]

#include <skep/admin.hpp>
#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

skep::pool_config configure(const std::string& name, std::size_t workers) {
    auto config = skep::pool_config::python(INCIDENT_WORKER, "/usr/bin/python3");
    config.name = name;
    config.workers = workers;
    config.launch.args.emplace_back("--api-key=secret-of-the-incident");
    config.launch.environment["API_KEY"] = "secret-of-the-incident";
    config.start.batch_size = 16;
    config.restart.limit = 1'000'000;
    config.log_level = skep::log_level::off;
    return config;
}

asio::awaitable<void> pause(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::use_awaitable);
}

/// Makes one call; returns false once the pool has ended.
asio::awaitable<bool> call(skep::pool& target, std::string command, unsigned number) {
    auto made = skep::request(std::move(command)).arg("number", number);
    made.correlation_id("order-" + std::to_string(number));
    try {
        co_await target.execute(std::move(made));
    } catch (const skep::error& problem) {
        co_return problem.kind() != skep::errc::shutting_down&& problem.kind() != skep::errc::not_started;
    }
    co_return true;
}

asio::awaitable<void> use(skep::pool& target, unsigned first, unsigned step) {
    bool goes_on = true;
    for (unsigned number = first; goes_on; number += step) {
        auto calling = call(target, target.name() == "ranking" ? "score" : "look_up", number);
        goes_on = co_await std::move(calling);
        auto waiting = pause(100ms);
        co_await std::move(waiting);
    }
}

asio::awaitable<void> crash_every_five_seconds(skep::pool& target) {
    bool goes_on = true;
    for (unsigned number = 4711; goes_on; ++number) {
        auto calling = call(target, "rerank", number);
        goes_on = co_await std::move(calling);
        auto waiting = pause(5s);
        co_await std::move(waiting);
    }
}

asio::awaitable<void> serve(skep::pool_manager& pools, skep::admin_options options) {
    const auto executor = co_await asio::this_coro::executor;
    const skep::admin_server admin(executor, pools, std::move(options));
    std::cout << "the admin page is at " << admin.url() << std::endl;
    co_await pools.start();
    const auto ignore = [](const std::exception_ptr&) {};
    constexpr unsigned users = 4;
    for (const auto* name : {"parsing", "embedding", "ranking", "thumbnails"}) {
        for (unsigned i = 0; i < users; ++i) {
            asio::co_spawn(executor, use(pools.get(name), i, users), ignore);
        }
    }
    asio::co_spawn(executor, crash_every_five_seconds(pools.get("ranking")), ignore);
    asio::signal_set signals(executor, SIGINT, SIGTERM);
    co_await signals.async_wait(asio::use_awaitable);
    co_await pools.shutdown();
}

} // namespace

int main(int argc, char** argv) {
    const std::size_t workers = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
    asio::io_context context;
    skep::manager_config config;
    for (const auto* name : {"parsing", "embedding", "ranking", "thumbnails"}) {
        config.pools.push_back(configure(name, workers));
    }
    skep::pool_manager pools(context, config);
    skep::admin_options options;
    options.token = argc > 2 ? argv[2] : "";
    asio::co_spawn(context, serve(pools, options), [](const std::exception_ptr& problem) {
        if (problem) {
            std::rethrow_exception(problem);
        }
    });
    context.run();
}
