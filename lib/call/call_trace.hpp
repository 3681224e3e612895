// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <boost/json/array.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace skep {

/// The span of a batch. Ends with the last of its traced calls.
struct batch_trace {
    std::string trace_id;
    std::string span_id;
    std::size_t size = 0;
    time_point begin;
    boost::json::array links; ///< see events::span
};

/// The span ids of one call; see events::span.
struct call_trace {
    std::string trace_id;
    std::string parent_id;                    ///< empty if the trace begins with the call
    std::string call_id;                      ///< the call, as seen by its caller
    std::string run_id;                       ///< the run of the call at a worker
    std::shared_ptr<const batch_trace> batch; ///< null outside of a batch; shared by its traced calls
};

} // namespace skep
