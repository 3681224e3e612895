// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/blob.hpp>
#include <skep/time.hpp>
#include <skep/value_as.hpp>
#include <skep/worker_id.hpp>

#include <boost/json/value.hpp>

#include <string>
#include <vector>

namespace skep {

/// The answer to one call.
struct reply {
    /// Converts `value` to a T: see value_as. Throws error(errc::type_mismatch) with the place that does not
    /// fit.
    template <class T>
    T as() const {
        error_info known;
        known.worker = worker;
        known.attempts = attempts;
        return value_as<T>(value, known);
    }

    boost::json::value value; ///< return value of the worker's function
    /// Returned bytes; `value` refers to them as {"$attachment": index}. With an index out of range, such an
    /// object is data.
    std::vector<blob> attachments;
    worker_id worker;           ///< the worker that answered
    std::string correlation_id; ///< id of the request, or a generated id
    duration queue_time{};      ///< from execute() to the dispatch that led to this answer
    duration run_time{};        ///< from that dispatch to the answer
    int attempts = 1;           ///< number of workers that the call was sent to, including `worker`
};

} // namespace skep
