// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/node_page.hpp"

#include "command/usage_error.hpp"

#if SKEP_HAS_ADMIN
#include <skep/admin.hpp>
#endif

#include <utility>

namespace skep {

namespace asio = boost::asio;

#if SKEP_HAS_ADMIN
node_page::node_page(asio::any_io_executor executor, pool_manager& pools, node_agent& node,
                     std::optional<admin_options> options) {
    if (options) {
        options->node = &node;
        server_ = std::make_shared<admin_server>(std::move(executor), pools, std::move(*options));
    }
}

std::string node_page::url() const {
    return server_ ? server_->url() : std::string();
}

asio::awaitable<void> node_page::stop() {
    if (server_) {
        co_await server_->stop();
    }
}
#else
node_page::node_page(asio::any_io_executor, pool_manager&, node_agent&,
                     std::optional<admin_options> options) {
    if (options) {
        throw usage_error("\"admin\" needs skep::admin, and skep was built without it");
    }
}

std::string node_page::url() const {
    return {};
}

asio::awaitable<void> node_page::stop() {
    co_return;
}
#endif

} // namespace skep
