// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <pthread.h>

namespace skep {

// Protocol between a host and its guard, a separate program. The guard inherits these descriptors:

/// A socket for messages of one byte with descriptors.
inline constexpr int guard_line = 3;

/// Memory shared with the host: the host_pulse.
inline constexpr int guard_memory = 4;

/// Carries both ends of a leash for the guard to hold, the guard's end first. A byte received at the guard's
/// end means that the host has pulled the leash, and the guard releases it.
inline constexpr char leash_message = 'l';

/// Carries a pidfd of the leader of the previous leash's group.
inline constexpr char process_message = 'p';

/// Time that the rest of a group has after the end of its leader, in milliseconds.
inline constexpr int moment_for_group = 200;

/// Sign of life of the host. A thread of the host holds the mutex; the kernel releases the mutex when the
/// thread dies, before it begins to free the host's memory, which may take seconds.
struct host_pulse {
    pthread_mutex_t held;
};

} // namespace skep
