// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/admin.hpp>
#include <skep/pool_manager.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace gateway {

struct settings {
    boost::asio::ip::tcp::endpoint where;
    skep::admin_options admin;
    std::chrono::seconds grace{10};
    skep::manager_config pools;
};

extern const char* const usage;

/// Reads the command line. Throws std::invalid_argument for a wrong command line, and skep::error for a wrong
/// configuration.
settings settings_from(const std::vector<std::string>& args);

} // namespace gateway
