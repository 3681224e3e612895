// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/node_agent.hpp>
#include <skep/testing.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace skep::test {

namespace asio = boost::asio;

/// Workers of a node, in the same process. `work` returns its number after some time, `count` sends chunks.
class node_workers {
public:
    /// `on_run` is called with the number of each call that begins.
    node_workers(asio::io_context& context, std::size_t count, std::function<void(int)> on_run)
        : workers_(context.get_executor(), config(count)) {
        workers_.on("work", [on_run](worker_call& call) -> asio::awaitable<int> {
            const auto number = call.arg<int>("number");
            const std::chrono::milliseconds time(call.arg<int>("ms"));
            on_run(number);
            co_await testing::sleep_for(time);
            co_return number;
        });
        workers_.on("count", [on_run = std::move(on_run)](worker_call& call) -> asio::awaitable<int> {
            on_run(call.arg<int>("number"));
            const auto chunks = call.arg<int>("chunks");
            for (int i = 0; i < chunks; ++i) {
                co_await call.send(i);
                co_await testing::sleep_for(std::chrono::milliseconds(2));
            }
            co_return chunks;
        });
    }

    skep::pool& pool() { return workers_.pool(); }

private:
    static pool_config config(std::size_t count) {
        pool_config config;
        config.workers = count;
        config.log_level = log_level::off;
        return config;
    }

    testing::fake_pool workers_;
};

/// A node with four workers in the same process.
class nats_node {
public:
    /// `on_run`: see node_workers.
    nats_node(asio::io_context& context, const nats_options& options, const std::string& name,
              std::function<void(int)> on_run)
        : workers_(context, 4, std::move(on_run)),
          agent_(context.get_executor(), workers_.pool(), options_of(options, name)) {}

    asio::awaitable<void> start() {
        co_await workers_.pool().start();
        co_await agent_.start();
    }

    node_agent& agent() { return agent_; }

    /// Ends the node in an orderly way.
    asio::awaitable<void> stop() {
        co_await agent_.drain();
        co_await agent_.stop();
        co_await workers_.pool().shutdown();
    }

private:
    static node_options options_of(const nats_options& nats, const std::string& name) {
        node_options options;
        options.nats = nats;
        options.name = name;
        options.log_level = log_level::off;
        return options;
    }

    node_workers workers_;
    node_agent agent_;
};

} // namespace skep::test
