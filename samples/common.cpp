// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "common.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>

namespace asio = boost::asio;

namespace {

constexpr int exit_failure = 1;
constexpr int exit_usage = 2;
constexpr int exit_signal = 128; // plus the signal's number, as in shells

/// Returns the interpreter; an empty optional if the command line is wrong.
std::optional<std::string> parse(const std::vector<std::string>& args) {
    if (args.empty()) {
        return "python3";
    }
    const bool right = args.size() == 2 && args[0] == "--python" && !args[1].empty();
    return right ? std::optional(args[1]) : std::nullopt;
}

int run(const std::string& python, const sample& body) {
    asio::io_context context(1);
    stop_signals signals(context);
    bool went_well = false;
    std::exception_ptr failure;
    const auto on_end = [&](std::exception_ptr problem, bool result) {
        failure = problem;
        went_well = result;
        signals.close();
    };
    asio::co_spawn(context, body(python, signals), on_end);
    context.run();
    if (failure) {
        std::rethrow_exception(failure);
    }
    if (const auto signal = signals.received()) {
        std::cout << "\ninterrupted: " << strsignal(*signal) << '\n';
        return exit_signal + *signal;
    }
    return went_well ? 0 : exit_failure;
}

} // namespace

stop_signals::stop_signals(asio::io_context& context) : set_(context, SIGINT, SIGTERM) {
    wait();
}

void stop_signals::close() {
    closed_ = true;
    set_.cancel();
}

void stop_signals::wait() {
    set_.async_wait([this](const boost::system::error_code& failed, int number) {
        if (failed || closed_) {
            return;
        }
        wait();
        if (!received_) {
            received_ = number;
            stop_.emit(asio::cancellation_type::terminal);
        }
    });
}

int run_sample(const std::string& name, const std::vector<std::string>& args, const sample& body) {
    const auto python = parse(args);
    if (!python) {
        std::cerr << "usage: " << name << " [--python PROGRAM]\n"
                  << "  --python PROGRAM  interpreter, a name in PATH or a path (default: python3)\n";
        return exit_usage;
    }
    try {
        return run(*python, body);
    } catch (const std::exception& problem) {
        std::cerr << name << ": " << problem.what() << '\n';
        return exit_failure;
    }
}

asio::awaitable<std::string> until_stopped(asio::awaitable<void> job, stop_signals& stop) {
    const auto executor = co_await asio::this_coro::executor;
    auto stoppable = asio::bind_cancellation_slot(stop.slot(), asio::use_awaitable);
    std::string problem;
    try {
        co_await asio::co_spawn(executor, std::move(job), std::move(stoppable));
    } catch (const std::exception& failure) {
        problem = failure.what();
    }
    co_return problem;
}

asio::awaitable<void> run_together(std::vector<asio::awaitable<void>> tasks) {
    const auto executor = co_await asio::this_coro::executor;
    const auto begin = [&executor](asio::awaitable<void>& task) {
        return asio::co_spawn(executor, std::move(task), asio::deferred);
    };
    std::vector<decltype(begin(tasks.front()))> begun;
    for (auto& task : tasks) {
        begun.push_back(begin(task));
    }
    auto group = asio::experimental::make_parallel_group(std::move(begun));
    const asio::experimental::wait_for_one_error until;
    const auto ends = co_await group.async_wait(until, asio::use_awaitable);
    const auto& [order, problems] = ends;
    for (const auto index : order) {
        if (problems[index]) {
            std::rethrow_exception(problems[index]);
        }
    }
}

std::string seconds(skep::duration span) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f s", std::chrono::duration<double>(span).count());
    return text.data();
}

void print_shutdown(const skep::shutdown_report& report) {
    std::cout << "\nshutdown took " << seconds(report.took) << ", "
              << (report.clean() ? "no process is left" : "some processes could not be ended") << '\n';
    for (const auto& worker : report.workers) {
        std::cout << "  " << to_string(worker.id) << " (pid " << worker.pid
                  << "): " << to_string(worker.state) << ", " << to_string(worker.status)
                  << ", last step: " << to_string(worker.stage()) << '\n';
    }
}
