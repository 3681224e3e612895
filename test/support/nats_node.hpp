// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/local_context.hpp"
#include "remote/nats_bus.hpp"
#include "remote/node_agent.hpp"
#include <skep/testing.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace skep::test {

namespace asio = boost::asio;

inline bus_factory connect_by_nats(const nats_options& options) {
    return [options](const strand& executor, bus_user& user) {
        return std::make_unique<nats_bus>(executor, user, options);
    };
}

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
        node_setup setup;
        setup.name = name;
        setup.pools.emplace("default", served_pool(workers_.pool()));
        agent_ = std::make_shared<node_agent>(make_local_context(context.get_executor()), std::move(setup),
                                              connect_by_nats(options));
    }

    asio::awaitable<void> start() {
        co_await workers_.pool().start();
        asio::post(agent_->executor(), [agent = agent_] { agent->start(); });
    }

    /// Ends the node in an orderly way.
    asio::awaitable<void> stop() {
        auto draining = asio::co_spawn(agent_->executor(), agent_->drain(), asio::use_awaitable);
        co_await std::move(draining);
        auto stopping = asio::co_spawn(agent_->executor(), agent_->stop(), asio::use_awaitable);
        co_await std::move(stopping);
        agent_.reset();
        co_await workers_.pool().shutdown();
    }

private:
    static pool_config config() {
        pool_config config;
        config.workers = 4;
        config.log_level = log_level::off;
        return config;
    }

    testing::fake_pool workers_;
    std::shared_ptr<node_agent> agent_;
};

} // namespace skep::test
