// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/launcher.hpp"
#include "runtime/runtime.hpp"
#include <skep/pool_config.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

namespace skep {

/// A worker to start, without its descriptors.
struct launch_plan {
    launch_spec spec;
    transport kind;
    bool shares_memory;
};

/// A template to launch, without its descriptors, and the program of its nursery.
struct template_plan {
    launch_spec spec;
    std::string nursery_program;
};

/// The inputs of all launches of a pool. Created on the thread that creates the pool, and captures the host's
/// state there. Used on the spawner: a search for files takes as long as the file system needs.
class launch_recipe {
public:
    launch_recipe(const pool_config& config, std::shared_ptr<const host_state> host);

    /// Both throw error(spawn_failed).
    launch_plan plan_for(const launch_order& order);
    template_plan plan_for_template();

private:
    std::string usual_executable();

    launch_options options_;
    const std::size_t threads_;
    const thread_checks thread_checks_;
    const wait_mode wait_;
    const bool shares_memory_;
    std::shared_ptr<const host_state> host_;
    std::mutex mutex_;
    std::string executable_;
};

} // namespace skep
