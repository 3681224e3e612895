// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/config_files.hpp"

#include <boost/json/parse.hpp>

#include <fstream>
#include <utility>

namespace skep {

namespace {

/// Returns true if the file configures several pools. A file without valid JSON configures one pool: reading
/// it as such reports the problem.
bool lists_pools(const std::string& path) {
    const auto document = read_object(path);
    return document && document->contains("pools");
}

} // namespace

manager_config read_configuration(const std::string& path) {
    if (lists_pools(path)) {
        return manager_config::from_file(path);
    }
    manager_config config;
    config.pools.push_back(pool_config::from_file(path));
    return config;
}

std::optional<boost::json::object> read_object(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    boost::system::error_code ec;
    auto document = boost::json::parse(file, ec);
    return !ec && document.is_object() ? std::optional(std::move(document.get_object())) : std::nullopt;
}

} // namespace skep
