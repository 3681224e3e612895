// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A node as a service of its own, until SIGINT or SIGTERM: node POOL NODE
//     POOL  a file for skep::pool_config
//     NODE  a file for skep::node_options

#include <skep/node_agent.hpp>
#include <skep/skep.hpp>
#include <skep/until.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json/parse.hpp>

#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;

skep::node_options read_options(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error(path + ": cannot be read");
    }
    const std::string text(std::istreambuf_iterator<char>(file), {});
    return skep::node_options::from_json(boost::json::parse(text));
}

asio::awaitable<void> wait_for(asio::signal_set& signals) {
    co_await signals.async_wait(asio::use_awaitable);
}

asio::awaitable<void> serve(skep::pool& pool, skep::node_agent& agent, asio::signal_set& signals) {
    co_await pool.start();
    auto announcing = agent.start(); // waits for a server
    auto stopping = wait_for(signals);
    auto starting = skep::until(std::move(announcing), std::move(stopping));
    const bool is_announced = co_await std::move(starting);
    if (is_announced) {
        std::cout << "the node " << agent.name() << " is announced" << std::endl;
        co_await wait_for(signals);
        co_await agent.drain(); // running calls end, and new ones go to other nodes
    }
    co_await agent.stop();
    co_await pool.shutdown();
}

int main(int count, char** words) try {
    if (count != 3) {
        std::cerr << "usage: node POOL NODE\n";
        return 2;
    }
    asio::io_context context(1);
    asio::signal_set signals(context, SIGINT, SIGTERM);
    skep::pool pool(context, skep::pool_config::from_file(words[1]));
    skep::node_agent agent(context.get_executor(), pool, read_options(words[2]));
    auto ended = asio::co_spawn(context, serve(pool, agent, signals), asio::use_future);
    context.run();
    ended.get(); // rethrows the exception of serve()
} catch (const std::exception& problem) {
    std::cerr << "node: " << problem.what() << '\n';
    return 1;
}
