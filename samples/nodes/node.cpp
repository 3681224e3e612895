// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A node with two workers, until SIGINT or SIGTERM: nodes_node NAME SERVER

#include <skep/node_agent.hpp>
#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <csignal>
#include <iostream>
#include <string>

namespace asio = boost::asio;

namespace {

skep::pool_config workers_of(const std::string& node) {
    auto config = skep::pool_config::python(SAMPLE_DIR "/worker.py");
    config.workers = 2;
    config.min_ready = 2;
    config.launch.environment["NODE"] = node;
    return config;
}

asio::awaitable<void> serve(skep::pool& pool, skep::node_agent& agent, asio::signal_set& signals) {
    co_await pool.start();
    co_await agent.start();
    co_await signals.async_wait(asio::use_awaitable);
    co_await agent.drain(); // no call is lost
    co_await agent.stop();
    co_await pool.shutdown();
}

} // namespace

int main(int count, char** words) try {
    if (count != 3) {
        std::cerr << "usage: nodes_node NAME SERVER\n";
        return 2;
    }
    asio::io_context context(1);
    asio::signal_set signals(context, SIGINT, SIGTERM);
    skep::node_options options;
    options.name = words[1];
    options.nats.servers = {words[2]};
    skep::pool pool(context, workers_of(options.name));
    skep::node_agent agent(context.get_executor(), pool, options);
    auto ended = asio::co_spawn(context, serve(pool, agent, signals), asio::use_future);
    context.run();
    ended.get(); // rethrows the exception of serve()
} catch (const std::exception& problem) {
    std::cerr << "node: " << problem.what() << '\n';
    return 1;
}
