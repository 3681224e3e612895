// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>

namespace skep {

/// The span ids of one call; see events::span.
struct call_trace {
    std::string trace_id;
    std::string parent_id; ///< empty if the trace begins with the call
    std::string call_id;   ///< the call, as seen by its caller
    std::string run_id;    ///< the run of the call at a worker
};

} // namespace skep
