// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/blob.hpp>
#include <skep/tensor_view.hpp>
#include <skep/time.hpp>
#include <skep/value_as.hpp>
#include <skep/worker_id.hpp>

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// The answer to one call.
struct reply {
    /// Converts `value` to a T: see value_as. Throws error(errc::type_mismatch) with the place that does not
    /// fit.
    template <class T>
    T as() const {
        return value_as<T>(value, known());
    }

    /// Return bytes, an array, or the elements of an array by their place in `value`.
    /// `place`: a key, or a JSON pointer such as "/images/0"; empty for the whole value. `rule`: the expected
    /// shape; see shape_rule.
    /// Throw error(errc::type_mismatch) with place and rule if something else is there: see attachment_at,
    /// array_at and tensor_view.
    blob attachment(std::string_view place) const {
        return attachment_at(value, attachments, place, known());
    }
    ndarray array(std::string_view place) const { return array_at(value, attachments, place, known()); }
    template <array_element T>
    tensor_view<T> tensor(std::string_view place, const shape_rule& rule = {}) const {
        return detail::tensor_at<T>(value, attachments, place, rule, known());
    }

    boost::json::value value; ///< return value of the worker's function
    /// Returned bytes; `value` refers to them as {"$attachment": index}. With an index out of range, such an
    /// object is data.
    std::vector<blob> attachments;
    worker_id worker; ///< the worker that answered: of the node's pool, if the node has named it
    std::optional<std::string> node{}; ///< the node that had the call; empty: this machine
    std::string correlation_id;        ///< id of the request, or a generated id
    duration queue_time{}; ///< from execute() to the dispatch that led to this answer; also at the node
    duration run_time{};   ///< from that dispatch to the answer
    int attempts = 1;      ///< number of workers that the call was sent to, including `worker`

private:
    error_info known() const {
        error_info info;
        info.node = node.value_or(std::string());
        info.worker = worker;
        info.attempts = attempts;
        return info;
    }
};

} // namespace skep
