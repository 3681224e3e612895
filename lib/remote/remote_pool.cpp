// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/pause.hpp"
#include "core/shown_config.hpp"
#include "remote/nats_connector.hpp"
#include "remote/node_pool.hpp"
#include <skep/error.hpp>
#include <skep/remote_pool.hpp>
#include <skep/until.hpp>

#include <boost/asio/this_coro.hpp>

#include <utility>

namespace skep {

namespace {

pool make_pool_of(asio::any_io_executor executor, const remote_options& options) {
    options.validate();
    return make_node_pool(std::move(executor), options, connect_by_nats(options.nats));
}

asio::awaitable<void> wait_for(duration time) {
    const auto executor = co_await asio::this_coro::executor;
    auto pause = pause_until(strand(executor), clock::now() + time);
    co_await std::move(pause);
}

/// Waits for the first node. `limit`: of the wait; 0 = none. The pool may be destroyed meanwhile.
asio::awaitable<void> start_and_wait(asio::awaitable<void> starting, asio::awaitable<void> first_node,
                                     asio::awaitable<pool_status> look, duration limit) {
    co_await std::move(starting);
    if (limit == duration::zero()) {
        co_await std::move(first_node);
        co_return;
    }
    auto waiting = until(std::move(first_node), wait_for(limit));
    const bool has_node = co_await std::move(waiting);
    if (has_node) {
        co_return;
    }
    auto status = co_await std::move(look);
    auto info = status.last_failure ? std::move(*status.last_failure) : error_info();
    info.pool = std::move(status.name);
    throw error(errc::no_node, std::move(info));
}

} // namespace

boost::json::object remote_pool::configuration() const {
    return shown_config(options_);
}

remote_pool::remote_pool(asio::any_io_executor executor, remote_options options)
    : options_(std::move(options)), nodes_(make_pool_of(std::move(executor), options_)) {}

remote_pool::~remote_pool() = default;
remote_pool::remote_pool(remote_pool&&) noexcept = default;
remote_pool& remote_pool::operator=(remote_pool&&) noexcept = default;

asio::awaitable<void> remote_pool::start() {
    return start_and_wait(nodes_.start(), nodes_.ready(1), nodes_.status(), options_.queue.timeout);
}

call_operation remote_pool::prepare(request call) {
    return nodes_.prepare(std::move(call));
}

stream_operation remote_pool::prepare_stream(request call) {
    return nodes_.prepare_stream(std::move(call));
}

void remote_pool::register_tool(std::string name, tool_handler handler) {
    nodes_.register_tool(std::move(name), std::move(handler));
}

std::vector<std::shared_ptr<remote_pool>> add_remote_pools(pool_manager& manager,
                                                           const manager_config& config) {
    std::vector<std::shared_ptr<remote_pool>> added;
    for (const auto& each : config.remote) {
        auto options = each.options;
        options.log_handler = options.log_handler ? options.log_handler : config.log_handler;
        const auto calls = std::make_shared<remote_pool>(manager.get_executor(), std::move(options));
        manager.add(calls->name(), calls, each.mode);
        added.push_back(calls);
    }
    return added;
}

} // namespace skep
