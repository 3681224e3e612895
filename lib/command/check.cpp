// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/check.hpp"

#include "command/config_files.hpp"
#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <ostream>
#include <vector>

namespace skep {

namespace asio = boost::asio;

namespace {

pool_config with_one_worker(pool_config config) {
    config.workers = 1;
    config.min_ready = 1;
    config.scaling = {};
    config.log_level = log_level::off; // errors contain the output of the worker
    return config;
}

asio::awaitable<void> try_worker(pool& target) {
    co_await target.start();
    co_await target.execute(request("skep.health_check"));
}

asio::awaitable<void> try_and_end(pool& target, std::exception_ptr& problem) {
    try {
        co_await try_worker(target);
    } catch (...) {
        problem = std::current_exception();
    }
    co_await target.shutdown();
}

bool check_pool(pool_config config, std::ostream& out) {
    const auto name = config.name;
    std::exception_ptr problem;
    asio::io_context context(1);
    try {
        pool tried(context, with_one_worker(std::move(config)));
        asio::co_spawn(context, try_and_end(tried, problem),
                       [&](std::exception_ptr failure) { problem = problem ? problem : failure; });
        context.run();
        if (problem) {
            std::rethrow_exception(problem);
        }
    } catch (const std::exception& failure) {
        out << "pool " << name << ": " << failure.what() << '\n';
        return false;
    }
    out << "pool " << name << ": ok, a worker came up and is well\n";
    return true;
}

} // namespace

bool check_configuration(const std::string& path, std::ostream& out) {
    std::vector<pool_config> pools;
    try {
        pools = read_configuration(path).pools;
    } catch (const std::exception& problem) {
        out << problem.what() << '\n';
        return false;
    }
    bool all_well = true;
    for (auto& each : pools) {
        all_well = check_pool(std::move(each), out) && all_well;
    }
    return all_well;
}

} // namespace skep
