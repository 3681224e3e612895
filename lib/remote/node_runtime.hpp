// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/node_network.hpp"
#include "runtime/runtime.hpp"

#include <memory>
#include <optional>

namespace skep {

/// The runtime of a pool whose workers are nodes. To start a worker is to open a link to a node that has none
/// yet, however long it takes until there is one.
class node_runtime final : public runtime, private session_homes {
public:
    /// `context` must outlive this object.
    node_runtime(const pool_context& context, node_demand demand, bus_factory connect,
                 std::shared_ptr<node_observer> observer);
    ~node_runtime() override { close(); }

    asio::awaitable<worker_link> start(launch_order order) override;
    void cancel_start(const worker_id& id) noexcept override;
    std::optional<remote_status> look() const override;
    void close() override;
    asio::awaitable<void> closed() override;
    session_homes* homes() noexcept override { return this; }

private:
    asio::awaitable<home_report> ask(std::string session) override;
    std::string choose(const std::string& session) const override;
    void forget(const std::string& session) override;

    const pool_context& context_;
    node_demand demand_;
    bus_factory connect_;
    std::shared_ptr<node_observer> observer_;
    std::shared_ptr<node_network> network_;     ///< from the first start until close()
    std::weak_ptr<node_network> ended_network_; ///< after close()
    remote_status past_;                        ///< totals of the networks before
};

} // namespace skep
