// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A page with nodes in all states, and with the clients of a node of its own, for admin/page_test.py. Nothing
// of it is real. Runs until Ctrl-C. Usage: node_page NODES TOKEN

#include "support/other_pool.hpp"
#include <skep/admin.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// A node with as many clients as the pool has nodes.
class own_node final : public skep::observed_node {
public:
    own_node(asio::any_io_executor executor, std::size_t clients) : executor_(std::move(executor)) {
        status_.name = "gpu-0";
        status_.is_connected = true;
        status_.links = clients;
        for (std::size_t i = 0; i < clients; ++i) {
            status_.clients.push_back({"shop-" + std::to_string(i), "default", i % 5, i << 12, 1500us, 1h});
        }
    }
    asio::any_io_executor get_executor() const noexcept override { return executor_; }
    asio::awaitable<skep::node_status> status() override { co_return status_; }

private:
    asio::any_io_executor executor_;
    skep::node_status status_;
};

/// Every eighth node is in trouble.
void add_nodes(skep::test::other_pool& pool, std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) {
        const auto state = i % 8 == 1 ? static_cast<skep::node_state>(i / 8 % skep::node_state_count)
                                      : skep::node_state::linked;
        pool.add_node("gpu-" + std::to_string(i), state);
        auto& node = pool.figures.status.remote->nodes.back();
        node.calls = i % 7;
        node.own_calls = i % 3;
        node.round_trip = std::chrono::microseconds(300 + 17 * i);
        if (state == skep::node_state::ejected) {
            node.ejections = 2;
            node.ejected_for = 10s;
        }
        pool.figures.nodes[node.name].failed[skep::errc::node_lost] = i % 4;
    }
    pool.figures.status.counters.busy_answers = 3;
    pool.figures.status.remote->links = {2, 5, 1, 70'000};
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: node_page NODES TOKEN\n";
        return 2;
    }
    asio::io_context context;
    const auto count = std::strtoul(argv[1], nullptr, 10);
    skep::test::other_pool pool(context.get_executor(), "nodes");
    add_nodes(pool, count);
    own_node node(context.get_executor(), count);
    skep::admin_options options;
    options.token = argv[2];
    options.node = &node;
    const skep::admin_server admin(context.get_executor(), pool, options);
    asio::steady_timer ejection(context, 1s); // once the server listens to the pool
    ejection.async_wait([&pool](boost::system::error_code) {
        pool.events().emit<skep::events::node_ejected>([] {
            return skep::events::node_ejected{"nodes", "gpu-1", 10s, 2};
        });
    });
    std::cout << "the admin page is at " << admin.url() << std::endl;
    asio::signal_set signals(context, SIGINT);
    signals.async_wait([&](boost::system::error_code, int) { context.stop(); });
    context.run();
    return 130;
}
