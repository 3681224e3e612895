// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/node_agent.hpp>
#include <skep/testing.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace skep::test {

namespace asio = boost::asio;

/// A node with four workers in the same process. `work` returns its number after some time, `count` sends
/// chunks.
class nats_node {
public:
    /// `on_run` is called with the number of each call of `work` that begins.
    nats_node(asio::io_context& context, const nats_options& options, const std::string& name,
              std::function<void(int)> on_run)
        : workers_(context.get_executor(), config()) {
        workers_.on("work", [on_run = std::move(on_run)](worker_call& call) -> asio::awaitable<int> {
            const auto number = call.arg<int>("number");
            const std::chrono::milliseconds time(call.arg<int>("ms"));
            on_run(number);
            co_await testing::sleep_for(time);
            co_return number;
        });
        workers_.on("count", [](worker_call& call) -> asio::awaitable<int> {
            const auto chunks = call.arg<int>("chunks");
            for (int i = 0; i < chunks; ++i) {
                co_await call.send(i);
                co_await testing::sleep_for(std::chrono::milliseconds(2));
            }
            co_return chunks;
        });
        agent_.emplace(context.get_executor(), workers_.pool(), options_of(options, name));
    }

    asio::awaitable<void> start() {
        co_await workers_.pool().start();
        co_await agent_->start();
    }

    node_agent& agent() { return *agent_; }

    /// Ends the node in an orderly way.
    asio::awaitable<void> stop() {
        co_await agent_->drain();
        co_await agent_->stop();
        co_await workers_.pool().shutdown();
    }

private:
    static pool_config config() {
        pool_config config;
        config.workers = 4;
        config.log_level = log_level::off;
        return config;
    }

    static node_options options_of(const nats_options& nats, const std::string& name) {
        node_options options;
        options.nats = nats;
        options.name = name;
        options.log_level = log_level::off;
        return options;
    }

    testing::fake_pool workers_;
    std::optional<node_agent> agent_;
};

} // namespace skep::test
