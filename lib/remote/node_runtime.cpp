// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_runtime.hpp"

#include <utility>

namespace skep {

node_runtime::node_runtime(const pool_context& context, node_demand demand, bus_factory connect,
                           std::shared_ptr<node_observer> observer)
    : context_(context),
      demand_(std::move(demand)),
      connect_(std::move(connect)),
      observer_(std::move(observer)) {}

asio::awaitable<worker_link> node_runtime::start(launch_order order) {
    if (!network_) {
        network_ = std::make_shared<node_network>(context_, demand_, connect_, observer_);
        network_->begin();
    }
    const auto network = network_;
    const auto node = co_await network->take_node(std::move(order.worker));
    co_return node->make_link();
}

void node_runtime::cancel_start(const worker_id& id) noexcept {
    if (network_) {
        network_->cancel(id);
    }
}

asio::awaitable<home_report> node_runtime::ask(std::string session) {
    const auto network = network_;
    home_report report;
    if (network) {
        report = co_await network->homes().ask(std::move(session));
    }
    co_return report;
}

std::string node_runtime::choose(const std::string& session) const {
    return network_ ? network_->choose(session) : std::string();
}

void node_runtime::forget(const std::string& session) {
    if (network_) {
        network_->homes().forget(session);
    }
}

std::optional<remote_status> node_runtime::look() const {
    auto status = network_ ? network_->status() : remote_status();
    status.reconnects += past_.reconnects;
    status.links += past_.links;
    return status;
}

void node_runtime::close() {
    if (const auto ended = std::exchange(network_, nullptr)) {
        ended_network_ = ended;
        past_.reconnects += ended->reconnects();
        past_.links += ended->link_counts();
        ended->end();
    }
}

asio::awaitable<void> node_runtime::closed() {
    if (const auto network = ended_network_.lock()) {
        co_await network->closed();
    }
}

} // namespace skep
