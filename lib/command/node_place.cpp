// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/node_place.hpp"

#include "command/config_files.hpp"
#include "command/usage_error.hpp"
#include <skep/remote_options.hpp>

#include <utility>

namespace skep {

namespace {

bool is_for_client(const boost::json::object& document) {
    return !document.contains("pools") && !document.contains("node") && !document.contains("launch");
}

} // namespace

node_place read_node_place(const std::string& path) {
    const auto document = read_object(path);
    if (document && is_for_client(*document)) {
        auto options = remote_options::from_json(*document);
        return {std::move(options.nats), std::move(options.domain)};
    }
    auto config = read_configuration(path);
    if (config.node) {
        return {std::move(config.node->nats), std::move(config.node->domain)};
    }
    if (config.remote.empty()) {
        throw usage_error(path + " has no \"node\" and no \"remote\"");
    }
    auto& options = config.remote.front().options;
    return {std::move(options.nats), std::move(options.domain)};
}

} // namespace skep
