// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <pthread.h>

namespace skep {

// Between a host and its guard, a program of its own. The guard has these descriptors:

/// A socket over which leashes come, one end of each to hold.
inline constexpr int guard_line = 3;

/// Memory shared with the host, which holds a heartbeat.
inline constexpr int guard_memory = 4;

/// Whether the host lives: a thread of the host holds the mutex, which the kernel takes from it when it dies. That is
/// before the kernel begins to free the host's memory, which may take seconds.
struct host_pulse {
    pthread_mutex_t held;
};

} // namespace skep
