// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The program of lib/pool/README.md with an io_context of its own, and how to print what a shutdown and a
// status tell.

#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>

namespace {

std::chrono::milliseconds ms(skep::duration time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time);
}

void print(const skep::shutdown_report& report) {
    for (const auto& end : report.workers) { // pid 0: of a slot that had no process yet
        std::cout << to_string(end.id) << ", pid " << end.pid << ": " << to_string(end.state) << ", "
                  << to_string(end.status) << ", stage " << to_string(end.stage()) << '\n';
    }
    std::cout << report.calls_drained << " calls drained, " << report.calls_aborted << " aborted, took "
              << ms(report.took).count() << " ms, " << (report.clean() ? "clean" : "not clean") << '\n';
}

boost::asio::awaitable<void> print_workers(skep::pool& pool) {
    const auto status = co_await pool.status();
    for (const auto& worker : status.workers) {
        std::cout << to_string(worker.id) << ", pid " << worker.pid << ": " << to_string(worker.state);
        for (const auto& call : worker.calls) {
            std::cout << ", " << call.command << " for " << ms(call.run_time).count() << " ms";
        }
        std::cout << '\n';
    }
}

boost::asio::awaitable<void> serve(skep::pool& pool) {
    auto call = skep::request("greet").arg("name", "Ada");
    const auto answer = co_await pool.execute(std::move(call));
    std::cout << answer.value << '\n';
    co_await print_workers(pool);
}

boost::asio::awaitable<void> live(skep::pool& pool) {
    std::exception_ptr problem;
    try {
        co_await pool.start();
        co_await serve(pool); // your calls
    } catch (...) {
        problem = std::current_exception(); // C++ allows no co_await in here
    }
    const auto report = co_await pool.shutdown();
    print(report);
    if (problem) {
        std::rethrow_exception(problem);
    }
}

} // namespace

int main() try {
    boost::asio::io_context context;
    skep::pool pool(context, skep::pool_config::python("worker.py"));
    boost::asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](boost::system::error_code ec, int) {
        if (!ec) { // a drain: new calls get shutting_down, and live() goes on to its shutdown()
            const auto ignore = [](const std::exception_ptr&, const skep::shutdown_report&) {};
            boost::asio::co_spawn(context, pool.shutdown(), ignore);
        }
    });
    const auto end = [&](const std::exception_ptr& problem) {
        signals.cancel();
        if (problem) {
            std::rethrow_exception(problem);
        }
    };
    boost::asio::co_spawn(context, live(pool), end);
    context.run(); // throws what live() throws
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
}
