// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/admin_options.hpp>
#include <skep/node_agent.hpp>
#include <skep/pool_manager.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string>

namespace skep {

class admin_server;

/// The admin page of a node, if its configuration asks for one.
class node_page {
public:
    /// Throws error(invalid_config) if nothing can listen there, and usage_error if skep was built without
    /// skep::admin.
    node_page(boost::asio::any_io_executor executor, pool_manager& pools, node_agent& node,
              std::optional<admin_options> options);

    /// Returns an empty text without a page.
    std::string url() const;

    boost::asio::awaitable<void> stop();

private:
    std::shared_ptr<admin_server> server_; ///< null: no page
};

} // namespace skep
