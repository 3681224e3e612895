// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/config_json.hpp"
#include "core/config_validate.hpp"
#include "core/launch_paths.hpp"
#include "core/pool_size.hpp"
#include "pool/config_check.hpp"
#include "pool/config_file.hpp"
#include "process/descriptor_count.hpp"
#include "process/usable_cpus.hpp"
#include <skep/pool_config.hpp>

namespace skep {

namespace {

std::size_t workers_of(const pool_config& config) {
    return config.workers ? *config.workers : usable_cpus();
}

pool_config read_pool(const boost::json::value& document, const config_origin& origin) {
    config_problems problems;
    if (!document.is_object()) {
        problems.add("the document", "", "must be a JSON object");
        problems.raise(origin.name);
    }
    auto config = read_config(document.get_object(), problems);
    count_paths_from(origin.folder, config.launch);
    check(config, problems);
    problems.raise(origin.name);
    return config;
}

} // namespace

void check(const pool_config& config, config_problems& problems) {
    check_config(config, workers_of(config), problems);
}

std::size_t least_workers(const pool_config& config) {
    return reserved_size(size_of(config.scaling, workers_of(config)), config.min_ready);
}

std::size_t descriptors_needed(const pool_config& config) {
    const auto of_thread = config.thread == pool_thread::own ? descriptors_of_context : 0;
    const auto of_templates =
        config.launch.preload ? 2 * descriptors_of_template : 0; // the old one and the next
    const auto most_workers = size_of(config.scaling, workers_of(config)).limits.max;
    const auto of_regions = config.shared.enabled ? descriptors_of_regions(most_workers) : 0;
    return descriptors_of_pool(most_workers) + of_thread + of_templates + of_regions;
}

pool_config pool_config::python(std::string script, std::string interpreter) {
    pool_config config;
    config.launch.program = std::move(interpreter);
    config.launch.args = {std::move(script)};
    return config;
}

pool_config pool_config::from_json(const boost::json::value& document) {
    return read_pool(document, {});
}

pool_config pool_config::from_file(const std::filesystem::path& path) {
    const auto file = read_config_file(path);
    return read_pool(file.document, file.origin);
}

void pool_config::validate() const {
    config_problems problems;
    check(*this, problems);
    problems.raise();
}

} // namespace skep
