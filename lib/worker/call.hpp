// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/suspended_caller.hpp"
#include "policy/deadline_heap.hpp"
#include "policy/patient_deadline.hpp"
#include "wire/host_messages.hpp"
#include <skep/error.hpp>
#include <skep/reply.hpp>
#include <skep/request.hpp>

#include <boost/intrusive/list_hook.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <cstdint>
#include <memory>

namespace skep {

class worker;

/// Where a call is on its way.
enum class call_state {
    fresh,     ///< not yet seen by the pool
    queued,    ///< waits for a worker
    delayed,   ///< was lost with a worker, and waits to be sent again
    running,   ///< a worker has it
    abandoned, ///< its caller has been answered (timeout, cancel), but the worker is still at it
    done
};

/// One call from execute() to its end. Its hooks tie it into the wait queue and the deadline heap without
/// allocation.
struct call : boost::intrusive_ref_counter<call>, boost::intrusive::list_base_hook<>, deadline_node {
    explicit call(request what) : req(std::move(what)) {}

    /// Makes its body and lets go of the arguments. Throws error(frame_too_large) or error(invalid_request).
    void encode(const limit_options& limits) {
        body = encode_call(req, limits);
        req.args_ = nullptr;
    }

    request req;
    std::string body; ///< encoded; see append_call
    std::unique_ptr<suspended_caller> caller;
    reply answer;                   ///< filled in before the caller is resumed
    std::unique_ptr<error> failure; ///< instead of an answer; before submission: why it cannot be encoded
    call_state state = call_state::fresh;
    time_point submitted;
    time_point dispatched;
    time_point deadline = time_point::max();
    patient_deadline overdue; ///< once abandoned: when the worker is to be done with it
    worker* at = nullptr;
    std::uint64_t id = 0; ///< on the connection of `at`
    int attempts = 0;
    bool is_probe = false; ///< of the worker's health: nobody else knows of it
};

using call_ptr = boost::intrusive_ptr<call>;

} // namespace skep
