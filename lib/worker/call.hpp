// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/patient_deadline.hpp"
#include "wire/host_messages.hpp"
#include "worker/call_sink.hpp"
#include "worker/claim.hpp"
#include <skep/error.hpp>
#include <skep/request.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace skep {

/// Where a call is on its way.
enum class call_state {
    fresh,     ///< not yet seen by the pool
    queued,    ///< waits for a worker
    delayed,   ///< was lost with a worker, and waits to be sent again
    running,   ///< a worker has it
    stranded,  ///< its worker is gone, and there was no memory to do anything about it
    abandoned, ///< its caller has been answered (timeout, cancel), but the worker is still at it
    done
};

/// One call from execute() to its end: a request, and where its answer goes.
struct call : claim {
    call(request&& what, call_sink* to) : req(std::move(what)), sink(to) {}

    /// Makes its body and lets go of the arguments. Throws error(frame_too_large) or error(invalid_request).
    void encode(const limit_options& limits) {
        body = encode_call(req, limits);
        req.args_ = nullptr;
    }

    claim_view view() const noexcept override { return {req.command(), req.session(), attempts}; }

    request req;
    call_sink* sink;
    std::string body;               ///< encoded; see append_call
    std::unique_ptr<error> refusal; ///< why it cannot be encoded
    call_state state = call_state::fresh;
    time_point dispatched;
    time_point deadline = time_point::max();
    patient_deadline overdue; ///< once abandoned: when the worker is to be done with it
    worker* at = nullptr;
    std::uint64_t id = 0; ///< on the connection of `at`
    int attempts = 0;
    bool is_private = false; ///< a probe, or a part of a warm-up: the pool does not know of it
};

using call_ptr = boost::intrusive_ptr<call>;

} // namespace skep
