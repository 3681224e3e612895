// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/run_to_end.hpp"
#include "remote/nats_connector.hpp"
#include "remote/node_core.hpp"
#include <skep/error.hpp>
#include <skep/node_agent.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <map>
#include <string>
#include <utility>

namespace skep {

namespace {

using core_ptr = std::shared_ptr<node_core>;
using pools_by_name = std::map<std::string, served_pool, std::less<>>;

node_options with_name(node_options options) {
    if (options.name.empty()) {
        const auto host = asio::ip::host_name();
        options.name = host.substr(0, host.find('.'));
    }
    options.validate();
    return options;
}

pools_by_name pools_of(pool& one, const node_options& options) {
    pools_by_name pools;
    pools.emplace(one.name(), served_pool(one, options.queue_per_place));
    return pools;
}

pools_by_name pools_of(pool_manager& all, const node_options& options) {
    pools_by_name pools;
    for (const auto& name : options.pools.empty() ? all.names() : options.pools) {
        pools.emplace(name, served_pool(all.get(name), options.queue_per_place));
    }
    return pools;
}

// Run on the strand.
asio::awaitable<void> begin_and_wait(core_ptr core) {
    core->start();
    co_await core->announced();
}
asio::awaitable<node_status> look_at(core_ptr core) {
    co_return core->status();
}
asio::awaitable<void> end_drain(core_ptr core) {
    core->undrain();
    co_return;
}

/// Throws error(cancelled) if the wait was cancelled.
asio::awaitable<void> announce(core_ptr core) {
    const auto executor = core->executor();
    auto waiting = asio::co_spawn(executor, begin_and_wait(std::move(core)), asio::use_awaitable);
    try {
        co_await std::move(waiting);
    } catch (const boost::system::system_error&) {
        throw error(errc::cancelled, {});
    }
}

} // namespace

/// The node, from one start() to the next.
class node_agent::core {
public:
    core(asio::any_io_executor executor, pools_by_name pools, event_bus& events, node_options options)
        : executor_(std::move(executor)),
          options_(std::move(options)),
          pools_(std::move(pools)),
          events_(events),
          connect_(connect_by_nats(options_.nats)) {}

    const asio::any_io_executor& executor() const noexcept { return executor_; }
    const std::string& name() const noexcept { return options_.name; }

    // Operations of the user, which may destroy the node_agent meanwhile.
    static asio::awaitable<void> start(std::shared_ptr<core> self) {
        if (self->running_) {
            throw error(errc::already_started, {});
        }
        self->running_ =
            make_node(self->executor_, self->options_, self->pools_, self->events_, self->connect_);
        co_await announce(self->running_);
    }

    static asio::awaitable<void> drain(std::shared_ptr<core> self) {
        const auto node = self->node();
        co_await run_to_end(node->executor(), node->drain());
    }

    static asio::awaitable<void> undrain(std::shared_ptr<core> self) {
        const auto node = self->node();
        co_await run_to_end(node->executor(), end_drain(node));
    }

    static asio::awaitable<void> stop(std::shared_ptr<core> self) {
        const auto node = self->running_;
        if (node) {
            co_await run_to_end(node->executor(), node->stop());
            self->running_.reset();
        }
    }

    static asio::awaitable<node_status> status(std::shared_ptr<core> self) {
        const auto node = self->running_;
        node_status result;
        result.name = self->name();
        if (node) {
            auto looking = asio::co_spawn(node->executor(), look_at(node), asio::use_awaitable);
            result = co_await std::move(looking);
        }
        co_return result;
    }

    void abandon() {
        if (running_) {
            asio::post(running_->executor(), [node = running_] { node->abandon(); });
        }
    }

private:
    /// Throws error(not_started) before start() and after stop().
    const core_ptr& node() const {
        if (!running_) {
            throw error(errc::not_started, {});
        }
        return running_;
    }

    asio::any_io_executor executor_;
    node_options options_;
    pools_by_name pools_;
    event_bus& events_;
    bus_factory connect_;
    core_ptr running_; ///< null before start() and after stop()
};

node_agent::node_agent(asio::any_io_executor executor, pool& one, node_options options) {
    options = with_name(std::move(options));
    auto pools = pools_of(one, options);
    core_ = std::make_shared<core>(std::move(executor), std::move(pools), one.events(), std::move(options));
}

node_agent::node_agent(asio::any_io_executor executor, pool_manager& all, node_options options) {
    options = with_name(std::move(options));
    auto pools = pools_of(all, options);
    core_ = std::make_shared<core>(std::move(executor), std::move(pools), all.events(), std::move(options));
}

node_agent::~node_agent() {
    core_->abandon();
}

const std::string& node_agent::name() const noexcept {
    return core_->name();
}

asio::any_io_executor node_agent::get_executor() const noexcept {
    return core_->executor();
}

asio::awaitable<void> node_agent::start() {
    return core::start(core_);
}

asio::awaitable<void> node_agent::drain() {
    return core::drain(core_);
}

asio::awaitable<void> node_agent::undrain() {
    return core::undrain(core_);
}

asio::awaitable<void> node_agent::stop() {
    return core::stop(core_);
}

asio::awaitable<node_status> node_agent::status() {
    return core::status(core_);
}

} // namespace skep
