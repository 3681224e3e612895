// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Step 7: a service with an io_context of its own, and its shutdown.

#include "service.hpp"
#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_future.hpp>

#include <csignal>
#include <iostream>

/// The life of the service: start, work, shutdown.
asio::awaitable<void> live(skep::pool& pool, asio::signal_set& signals) {
    std::exception_ptr problem;
    try {
        co_await pool.start();
        co_await serve(pool);
        std::raise(SIGTERM); // its handler runs when the next call waits
        auto running = skep::request("ponder").arg("seconds", 0.3);
        co_await answer(pool, std::move(running));
        auto late = skep::request("translate").arg("word", "bee");
        co_await answer(pool, std::move(late));
    } catch (...) {
        problem = std::current_exception(); // C++ allows no co_await in here
    }
    const auto report = co_await pool.shutdown();
    signals.cancel(); // nothing else holds the context
    std::cout << "calls drained: " << report.calls_drained << ", workers ended: " << report.workers.size()
              << ", " << (report.clean() ? "no process is left" : "a process may be left") << '\n';
    if (problem) {
        std::rethrow_exception(problem);
    }
}

int main() try {
    asio::io_context context;
    skep::pool pool(context, skep::pool_config::from_file("pool.json"));
    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](boost::system::error_code failed, int) {
        if (!failed) {
            asio::co_spawn(context, pool.shutdown(), [](auto&&...) {}); // live() gets the same report
        }
    });
    auto ended = asio::co_spawn(context, live(pool, signals), asio::use_future);
    context.run();
    ended.get(); // rethrows the exception of live()
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
}
