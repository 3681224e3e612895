// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A program that calls other machines, and would be one of them, where there is no server.

#include <skep/node_agent.hpp>
#include <skep/remote_pool.hpp>
#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <iostream>
#include <system_error>

namespace asio = boost::asio;

asio::awaitable<void> look_for_nodes(skep::remote_pool& shop) {
    try {
        co_await shop.start();
    } catch (const skep::error& failure) {
        const bool is_late = failure.code() == std::errc::timed_out;
        std::cout << (is_late ? "no node of " : "a failure of ") << failure.info().pool << '\n';
    }
    co_await shop.shutdown();
}

int main() {
    asio::io_context context(1);
    skep::node_options options_of_node;
    options_of_node.nats.servers = {"nats://127.0.0.1:1"};
    options_of_node.name = "node-1";
    skep::remote_options options;
    options.nats = options_of_node.nats;
    options.pool = "shop";
    options.queue.timeout = std::chrono::milliseconds(200);
    options.log_level = skep::log_level::off;

    skep::pool own(context, skep::pool_config::python("worker.py"));
    const skep::node_agent node(context.get_executor(), own, options_of_node);
    skep::remote_pool shop(context, options);
    std::cout << node.name() << ": ";
    asio::co_spawn(context, look_for_nodes(shop), asio::detached);
    context.run();
}
