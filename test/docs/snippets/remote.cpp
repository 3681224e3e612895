// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The code that lib/remote/README.md quotes.

#include <skep/node_agent.hpp>
#include <skep/remote_pool.hpp>
#include <skep/skep.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>

#include <memory>
#include <string>

namespace remote_guide {

using namespace std::chrono_literals;

skep::remote_pool make_pool(boost::asio::io_context& context) {
    skep::remote_options options;
    options.nats.servers = {"nats://10.0.0.5:4222"};
    options.retry.budget = 64;
    skep::remote_pool pool(context, options);
    return pool;
}

boost::asio::awaitable<std::string> greet(skep::call_interface& pool, std::string name) {
    auto call = skep::request("greet").arg("name", name).timeout(2s).idempotent(true);
    const auto answer = co_await pool.execute(std::move(call));
    co_return answer.as<std::string>();
}

skep::request predict() {
    auto call = skep::request("predict").session("user-42").affinity(skep::affinity_mode::strict_queue);
    return call;
}

boost::asio::awaitable<void> run_node(boost::asio::io_context& context, skep::pool& pool,
                                      boost::asio::awaitable<void> stop_signal) {
    skep::node_options options;
    options.nats.servers = {"nats://10.0.0.5:4222"};
    skep::node_agent agent(context.get_executor(), pool, options);
    co_await pool.start();
    co_await agent.start();
    co_await std::move(stop_signal);
    co_await agent.drain();
    co_await agent.stop();
    co_await pool.shutdown();
}

std::shared_ptr<skep::remote_pool> overflow_to_nodes(boost::asio::io_context& context,
                                                     skep::pool_manager& manager,
                                                     const skep::remote_options& options) {
    auto nodes = std::make_shared<skep::remote_pool>(context, options);
    manager.add("default", nodes); // skep::overflow::local_first
    return nodes;
}

boost::asio::awaitable<void> serve(skep::pool_manager& manager);

boost::asio::awaitable<void> run_service(boost::asio::io_context& context) {
    const auto config = skep::manager_config::from_file("service.json");
    skep::pool_manager manager(context, config);
    const auto remote = skep::add_remote_pools(manager, config);
    for (const auto& each : remote) {
        co_await each->start();
    }
    co_await manager.start();
    co_await serve(manager);
    co_await manager.shutdown();
    for (const auto& each : remote) {
        co_await each->shutdown();
    }
}

skep::remote_options read_options(std::string text) {
    return skep::remote_options::from_json(boost::json::parse(text));
}

} // namespace remote_guide
