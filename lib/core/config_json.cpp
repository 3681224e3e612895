// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/config_json.hpp"

#include "core/config_fields.hpp"
#include "core/config_reader.hpp"
#include "core/config_writer.hpp"
#include "core/presets.hpp"

#include <utility>

namespace skep {

namespace json = boost::json;

pool_config read_config(const json::object& document, config_problems& problems, pool_config defaults) {
    auto config = std::move(defaults);
    config_reader reader(document, problems);
    read_fields(config, reader);
    reader.skip("$schema"); // refers editors to the schema
    reader.reject_unknown_keys();
    return config;
}

json::object to_json(const pool_config& config) {
    config_writer writer;
    visit_fields(config, writer);
    return std::move(writer).result();
}

} // namespace skep
