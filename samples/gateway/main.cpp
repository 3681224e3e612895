// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A service: HTTP in front of three pools of Python workers. SIGTERM and Ctrl-C end the service after it has
// answered the received requests. SIGHUP loads new versions of the scripts without losing a call.

#include "background.hpp"
#include "budget.hpp"
#include "server.hpp"
#include "settings.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <tuple>
#include <vector>

namespace asio = boost::asio;

namespace {

constexpr int exit_status_after_interrupt = 130;

class service {
public:
    explicit service(gateway::settings wanted)
        : grace_(wanted.grace),
          limits_(gateway::divide_descriptors(wanted.pools, wanted.admin)),
          pools_(context_, std::move(wanted.pools)),
          server_(context_.get_executor(), wanted.where, pools_, limits_),
          admin_(context_.get_executor(), pools_, wanted.admin),
          signals_(context_, SIGTERM, SIGINT, SIGHUP) {}

    /// Returns the program's exit code.
    int run() {
        asio::co_spawn(context_, start(), [this](const std::exception_ptr& problem) { stop_for(problem); });
        asio::co_spawn(context_, live(), [this](const std::exception_ptr& problem) { problem_ = problem; });
        context_.run();
        if (problem_) {
            std::rethrow_exception(problem_);
        }
        return signal_ == SIGINT ? exit_status_after_interrupt : 0;
    }

private:
    asio::awaitable<void> start() {
        std::cout << "the admin page is at " << admin_.url() << std::endl;
        co_await pools_.start();
        server_.begin();
        std::cout << "listening on port " << server_.port() << std::endl;
    }

    /// Ends the service if it cannot start.
    void stop_for(const std::exception_ptr& problem) {
        if (problem && signal_ == 0) {
            start_problem_ = problem;
            signals_.cancel();
        }
    }

    asio::awaitable<void> live() {
        co_await obey_signals();
        const bool in_time = co_await server_.drain(grace_);
        std::cout << (in_time ? "every request was answered" : "some requests were cut off") << std::endl;
        co_await admin_.stop();
        const auto report = co_await pools_.shutdown();
        co_await server_.cut_off();
        std::cout << (report.clean() ? "no worker is left" : "workers may be left") << std::endl;
        if (start_problem_) {
            std::rethrow_exception(start_problem_);
        }
    }

    /// Returns when the service should end.
    asio::awaitable<void> obey_signals() {
        int number = SIGHUP;
        while (number == SIGHUP && !start_problem_) {
            boost::system::error_code ec;
            auto token = asio::redirect_error(asio::use_awaitable, ec);
            number = co_await signals_.async_wait(token);
            if (number == SIGHUP) {
                asio::co_spawn(context_, restart_workers(), gateway::report_failure);
            }
        }
        signal_ = number;
        signals_.clear(); // a second signal ends the process at once
    }

    /// Restarts all pools at the same time, so that a pool that waits for sessions does not delay the others.
    asio::awaitable<void> restart_workers() {
        using operation = decltype(asio::co_spawn(context_, restart_pool({}), asio::deferred));
        std::vector<operation> restarts;
        for (const auto& name : pools_.names()) {
            restarts.push_back(asio::co_spawn(context_, restart_pool(name), asio::deferred));
        }
        auto together = asio::experimental::make_parallel_group(std::move(restarts));
        const asio::experimental::wait_for_all all;
        auto waiting = together.async_wait(all, asio::use_awaitable);
        const auto ends = co_await std::move(waiting);
        const auto& problems = std::get<1>(ends);
        const bool are_old =
            std::any_of(problems.begin(), problems.end(),
                        [](const std::exception_ptr& problem) { return problem != nullptr; });
        std::cout << (are_old ? "some workers are old" : "all workers are new") << std::endl;
    }

    asio::awaitable<void> restart_pool(std::string name) {
        try {
            co_await pools_.get(name).rolling_restart();
        } catch (const std::exception& failure) { // the old workers go on serving
            std::cerr << "gateway: " << failure.what() << '\n';
            throw;
        }
    }

    asio::io_context context_{1};
    const std::chrono::seconds grace_;
    const gateway::limits limits_;
    skep::pool_manager pools_;
    gateway::server server_;
    skep::admin_server admin_;
    asio::signal_set signals_;
    int signal_ = 0;
    std::exception_ptr start_problem_;
    std::exception_ptr problem_;
};

} // namespace

int main(int count, char** values) {
    try {
        service whole(gateway::settings_from({values + 1, values + count}));
        return whole.run();
    } catch (const std::invalid_argument& problem) {
        std::cerr << "gateway: " << problem.what() << '\n' << gateway::usage;
        return 2;
    } catch (const std::exception& problem) {
        std::cerr << "gateway: " << problem.what() << '\n';
        return 1;
    }
}
