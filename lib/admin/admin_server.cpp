// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/admin_core.hpp"
#include "async/run_to_end.hpp"
#include "prometheus/pools_of.hpp"

#include <utility>

namespace skep {

/// Besides the connections: the listening socket, and one accepted connection that waits for room.
std::size_t descriptors_needed(const admin_options& options) noexcept {
    return options.connections + 2;
}

admin_server::admin_server(boost::asio::any_io_executor executor, observed_pool& one, admin_options options)
    : core_(std::make_shared<core>(
          executor, [&one] { return pools_of(one); }, one.events(), std::move(options))) {
    core_->begin();
}

admin_server::admin_server(boost::asio::any_io_executor executor, pool_manager& all, admin_options options)
    : core_(std::make_shared<core>(
          executor, [&all] { return pools_of(all); }, all.events(), std::move(options))) {
    core_->begin();
}

admin_server::~admin_server() {
    core_->end();
}

unsigned short admin_server::port() const noexcept {
    return core_->endpoint().port();
}

std::string admin_server::url() const {
    const auto address = core_->endpoint().address();
    const auto host = address.is_v6() ? '[' + address.to_string() + ']' : address.to_string();
    return "http://" + host + ':' + std::to_string(port()) + '/';
}

boost::asio::awaitable<void> admin_server::stop() {
    const auto server = core_;
    server->end();
    auto close = [](std::shared_ptr<core> ending) -> boost::asio::awaitable<void> {
        ending->close();
        co_await ending->join();
    };
    auto closing = run_to_end(server->executor(), close(server));
    co_await std::move(closing);
}

} // namespace skep
