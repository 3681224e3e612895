// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace skep {

/// A call that a worker had not answered when it ended. Without arguments: these may be secret.
struct unanswered_call {
    std::string command;        ///< command of the call
    std::string correlation_id; ///< from the request, or generated; the same as in the log and in the events
};

/// The calls that a worker may have begun, and had not answered when it ended or when the pool gave it up.
/// Includes calls whose callers no longer wait, health probes and calls of a warm-up.
struct unanswered_calls {
    std::vector<unanswered_call> named; ///< the calls sent first, in the order sent; at most 16
    std::size_t count = 0;              ///< number of all these calls
};

} // namespace skep
