// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

namespace skep {

/// How a thread waits for its next work.
enum class wait_mode {
    /// Where work comes within microseconds, the thread yields its core to other threads and looks again, for
    /// at most 50 us, before it sleeps. A wake-up takes longer than such a wait. Tries in vain take at most a
    /// tenth of a core. With one CPU, or a CPU quota of at most one CPU, the same as `block`.
    adaptive,
    block ///< the thread sleeps at once
};

} // namespace skep
