// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <optional>

namespace skep {

/// Sets of timeouts by name: request_timeout, stream.timeout and queue.timeout of a pool_config.
enum class timeout_profile {
    balanced,          ///< 5 min, 15 min, 10 s
    production,        ///< the same
    production_strict, ///< 1 min, 5 min, 5 s
    development,       ///< 15 min, 1 h, 1 min
    ml_inference,      ///< the same
    batch              ///< 1 h, none, 5 min
};

/// Named settings for the number of concurrent calls per worker.
enum class capacity_strategy {
    pool,   ///< one call per thread: capacity = threads_per_worker
    hybrid, ///< the same, with counts and times by command: metrics.enabled = true
    profile ///< one call at a time: capacity = threads_per_worker = 1, pipeline_depth = 0
};

/// Defaults for the calls of one command; a request may override each. An unset member uses the default for
/// all commands.
struct command_options {
    std::optional<duration> timeout;       ///< for the whole call, or stream, 0..24 h; 0 = none
    std::optional<duration> queue_timeout; ///< longest wait for a free worker, 0..24 h; 0 = none
    std::optional<duration> idle_timeout;  ///< longest wait for a chunk of a stream, 0..24 h; 0 = none
    std::optional<bool> idempotent;        ///< true: a call that was lost with its worker is sent again

    /// Most calls of a batch, 1..65,536; 1 = no batches. For a command that workers run in batches. Default:
    /// as the workers' script says.
    std::optional<std::size_t> batch;
    /// Longest wait of a free worker for more calls of its batch, 0..10 s. A worker does not wait while no
    /// more calls seem to come. Default: as the workers' script says.
    std::optional<duration> batch_wait;
};

} // namespace skep
