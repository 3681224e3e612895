// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/time.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace skep {

/// The state of a template: see launch_options::preload.
enum class template_state {
    absent, ///< is being made, or will be by the next start of a worker
    ready,  ///< forks workers
    refused ///< must not be forked, or templates have ended too often: workers start without it
};

/// Returns the name of the enumerator, such as "ready".
SKEP_API std::string_view to_string(template_state state) noexcept;

/// The template of a pool in a snapshot of status().
struct template_status {
    pid_t pid = 0;                                 ///< of its process; 0 unless it is ready
    template_state state = template_state::absent; ///< as the pool has found it last
    std::uint64_t forks = 0;                       ///< workers forked by all templates of the pool
    std::uint64_t templates = 0;                   ///< that have become ready since the pool was made
    duration preload_time{};                       ///< that the last template took to load its script
    std::vector<std::string> objections;           ///< why the template is refused, for people
};

} // namespace skep
