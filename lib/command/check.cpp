// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/check.hpp"

#if SKEP_HAS_REMOTE
#include "command/check_connection.hpp"
#endif
#include "command/config_files.hpp"
#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <ostream>
#include <string_view>

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

/// The findings of the check of a worker.
struct finding {
    std::exception_ptr problem;
    std::string loop; ///< of the worker: see worker_status
};

asio::awaitable<void> try_worker(pool& target, finding& outcome) {
    co_await target.start();
    co_await target.execute(request("skep.health_check"));
    const auto status = co_await target.status();
    outcome.loop = status.workers.empty() ? std::string() : status.workers.front().loop;
}

asio::awaitable<void> try_and_end(pool& target, finding& outcome) {
    try {
        co_await try_worker(target, outcome);
    } catch (...) {
        outcome.problem = std::current_exception();
    }
    co_await target.shutdown();
}

/// Says whether a Python worker has skep._loop.
std::string_view remark_on(std::string_view loop) {
    if (loop == "c") {
        return "; its interpreter has the loop in C";
    }
    return loop == "python" ? "; it serves its calls in pure Python" : "";
}

bool check_pool(pool_config config, std::ostream& out) {
    const auto name = config.name;
    finding found;
    asio::io_context context(1);
    try {
        pool tried(context, with_one_worker(std::move(config)));
        asio::co_spawn(context, try_and_end(tried, found), [&](std::exception_ptr failure) {
            found.problem = found.problem ? found.problem : failure;
        });
        context.run();
        if (found.problem) {
            std::rethrow_exception(found.problem);
        }
    } catch (const std::exception& failure) {
        out << "pool " << name << ": " << failure.what() << '\n';
        return false;
    }
    out << "pool " << name << ": ok, a worker came up and is well" << remark_on(found.loop) << '\n';
    return true;
}

bool check_node(const node_options& node, std::ostream& out) {
#if SKEP_HAS_REMOTE
    return check_connection(node, out);
#else
    out << "node " << node.name << ": not checked, skep was built without its part for NATS\n";
    return true;
#endif
}

} // namespace

bool check_configuration(const std::string& path, std::ostream& out) {
    manager_config config;
    try {
        config = read_configuration(path);
    } catch (const std::exception& problem) {
        out << problem.what() << '\n';
        return false;
    }
    bool all_well = true;
    for (auto& each : config.pools) {
        all_well = check_pool(std::move(each), out) && all_well;
    }
    if (config.node) {
        all_well = check_node(*config.node, out) && all_well;
    }
    return all_well;
}

} // namespace skep
