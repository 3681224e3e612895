// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/call_operation.hpp>
#include <skep/error.hpp>
#include <skep/event_bus.hpp>
#include <skep/observed_pool.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <exception>
#include <string>
#include <utility>

namespace skep::test {

/// A pool whose workers are nodes, as an observer sees it: its figures are what the test sets.
class other_pool final : public observed_pool {
public:
    other_pool(boost::asio::any_io_executor executor, std::string name) : executor_(std::move(executor)) {
        figures.status.name = std::move(name);
        figures.status.phase = pool_phase::running;
        figures.status.remote.emplace().is_connected = true;
    }

    /// Adds a node with a link, or one without if it is in another state.
    void add_node(std::string name, node_state state = node_state::linked) {
        node_view node;
        node.name = std::move(name);
        node.epoch = "epoch";
        node.state = state;
        node.places = 4;
        if (state == node_state::linked) {
            auto& link = figures.status.workers.emplace_back();
            link.id = {figures.status.name, static_cast<std::uint32_t>(figures.status.workers.size() - 1), 1};
            link.node = node.name;
            link.state = worker_state::ready;
            node.worker = link.id;
        }
        figures.nodes[node.name].succeeded = 1;
        figures.status.remote->nodes.push_back(std::move(node));
        figures.status.live = figures.status.workers.size();
    }

    boost::asio::any_io_executor get_executor() const noexcept override { return executor_; }
    call_operation prepare(request) override {
        return call_operation::failing(std::make_exception_ptr(error(errc::no_node, {})));
    }
    const std::string& name() const noexcept override { return figures.status.name; }
    boost::json::object configuration() const override { return {{"pool", "default"}}; }
    event_bus& events() noexcept override { return events_; }
    load_view load() const noexcept override { return {0, 0, 1, can_serve(figures.status)}; }
    boost::asio::awaitable<pool_metrics> metrics() override { return copy(figures); }

    pool_metrics figures;

private:
    static boost::asio::awaitable<pool_metrics> copy(pool_metrics from) { co_return from; }

    boost::asio::any_io_executor executor_;
    event_bus events_;
};

} // namespace skep::test
