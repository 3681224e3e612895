// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <pthread.h>

namespace skep {

// Between a host and its guard, a program of its own. The guard has these descriptors:

/// A socket over which messages of one byte and descriptors come.
inline constexpr int guard_line = 3;

/// Memory shared with the host, which holds a heartbeat.
inline constexpr int guard_memory = 4;

/// Both ends of a leash to hold, the guard's first. A byte at the guard's end says that the host has pulled the leash,
/// and needs it no more.
inline constexpr char leash_message = 'l';

/// A pidfd of the process that leads the group of the leash before.
inline constexpr char process_message = 'p';

/// What the rest of a group gets to end by itself, once its leader has.
inline constexpr int moment_for_group = 200; // milliseconds

/// Whether the host lives: a thread of the host holds the mutex, which the kernel takes from it when it dies. That is
/// before the kernel begins to free the host's memory, which may take seconds.
struct host_pulse {
    pthread_mutex_t held;
};

} // namespace skep
