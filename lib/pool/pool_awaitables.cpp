// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// The awaited operations of a pool, compiled once here instead of in each file that awaits one.

#include <skep/pool.hpp>

#include <utility>

namespace skep {

namespace asio = boost::asio;

asio::awaitable<void> pool::start() {
    return start(default_token());
}

asio::awaitable<void> pool::ready(std::size_t count) {
    return ready(count, default_token());
}

asio::awaitable<lease> pool::checkout(checkout_options options, std::source_location location) {
    return checkout(std::move(options), default_token(), location);
}

asio::awaitable<bool> pool::forget_session(std::string id) {
    return forget_session(std::move(id), default_token());
}

asio::awaitable<std::optional<session_binding>> pool::session_worker(std::string id) {
    return session_worker(std::move(id), default_token());
}

asio::awaitable<void> pool::bind_session(std::string id, worker_id worker,
                                         std::optional<affinity_mode> mode) {
    return bind_session(std::move(id), std::move(worker), mode, default_token());
}

asio::awaitable<pool_status> pool::status() {
    return status(default_token());
}

asio::awaitable<pool_metrics> pool::metrics() {
    return metrics(default_token());
}

asio::awaitable<void> pool::suspend(worker_id id) {
    return suspend(std::move(id), default_token());
}

asio::awaitable<void> pool::suspend() {
    return suspend(default_token());
}

asio::awaitable<void> pool::resume(worker_id id) {
    return resume(std::move(id), default_token());
}

asio::awaitable<void> pool::resume() {
    return resume(default_token());
}

asio::awaitable<probe_result> pool::probe(worker_id id) {
    return probe(std::move(id), default_token());
}

asio::awaitable<std::vector<probe_result>> pool::probe() {
    return probe(default_token());
}

asio::awaitable<duration> pool::ping(worker_id id) {
    return ping(std::move(id), default_token());
}

asio::awaitable<worker_exit> pool::ended(worker_id id) {
    return ended(std::move(id), default_token());
}

asio::awaitable<std::string> pool::stacks(worker_id id) {
    return stacks(std::move(id), default_token());
}

asio::awaitable<void> pool::restart(worker_id id) {
    return restart(std::move(id), default_token());
}

asio::awaitable<void> pool::rolling_restart() {
    return rolling_restart(default_token());
}

asio::awaitable<void> pool::resize(size_limits limits) {
    return resize(limits, default_token());
}

asio::awaitable<shutdown_report> pool::shutdown() {
    return shutdown(default_token());
}

} // namespace skep
