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
    /// `value` as a T: see value_as. Throws error(errc::type_mismatch), which says where it does not fit.
    template <class T>
    T as() const {
        error_info known;
        known.worker = worker;
        known.attempts = attempts;
        return value_as<T>(value, known);
    }

    boost::json::value value;      ///< what the worker's function returned
    std::vector<blob> attachments; ///< bytes it returned; `value` refers to them as {"$attachment": index}
    worker_id worker;              ///< who answered
    std::string correlation_id;    ///< the request's, or the one made for it
    duration queue_time{};         ///< from execute() to the dispatch that led to this answer
    duration run_time{};           ///< from that dispatch to the answer
    int attempts = 1;              ///< how many workers the call was sent to, this one included
};

} // namespace skep
