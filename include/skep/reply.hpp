// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/blob.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <boost/json/value.hpp>

#include <string>
#include <vector>

namespace skep {

/// The answer to one call.
struct reply {
    boost::json::value value;      ///< what the worker's function returned
    std::vector<blob> attachments; ///< bytes it returned; `value` refers to them as {"$attachment": index}
    worker_id worker;              ///< who answered
    std::string correlation_id;    ///< as given in the request
    duration queue_time{};         ///< from execute() to the dispatch that led to this answer
    duration run_time{};           ///< from that dispatch to the answer
    int attempts = 1;              ///< how many workers the call was sent to, this one included
};

} // namespace skep
