// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call_sink.hpp"
#include "call/call_trace.hpp"
#include "call/claim.hpp"
#include "call/progress_relay.hpp"
#include "core/request_extras.hpp"
#include "core/text.hpp"
#include "core/trace_context.hpp"
#include "policy/patient_deadline.hpp"
#include "policy/stream_window.hpp"
#include "wire/host_messages.hpp"
#include "wire/worker_messages.hpp"
#include <skep/error.hpp>
#include <skep/request.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

namespace skep {

/// Where a call is on its way.
enum class call_state : std::uint8_t {
    fresh,     ///< not yet seen by the pool
    queued,    ///< waits for a worker
    delayed,   ///< was lost with a worker, and waits to be sent again
    running,   ///< a worker has it
    abandoned, ///< its caller has been answered (timeout, cancel), but the worker is still at it
    done
};

/// What only a stream has.
struct stream_flow {
    stream_window window;
    duration idle_timeout{}; ///< longest wait for a chunk that the worker may send; 0 = none
    time_point heard;        ///< since when it may send one
    bool has_begun = false;  ///< a chunk has arrived
};

/// That a call is made by a tool, and for which call that runs.
struct tool_tie;

/// What few calls have.
struct call_ties {
    std::shared_ptr<const tool_tie> parent_tie; ///< null if it is not made by a tool
    std::shared_ptr<progress_relay> progress;   ///< null if nobody asks for it
    claim_ptr lease;                            ///< that it is made with; null for most
    std::unique_ptr<call_trace> trace;          ///< null if it is in none
};

/// One call from execute() to its end: a request, and where its answer goes.
struct call : claim {
    call(request&& new_request, call_sink* answer_sink) : req(std::move(new_request)), sink(answer_sink) {}

    /// Makes its body and lets go of the arguments. Throws error(frame_too_large) or error(invalid_request).
    void encode(const limit_options& limits) {
        body = encode_call(req, limits, stream != nullptr ? &stream->window.size() : nullptr);
        req.args_ = nullptr;
    }

    /// Cuts the names of a request that is refused to what a name may have: they go into errors, events and figures.
    void cut_names() {
        const auto cut = [](std::string& name) {
            if (name.size() > longest_name) {
                name = beginning_of(name, longest_name);
            }
        };
        cut(req.command_);
        if (extras() != nullptr) {
            cut(req.extras_.own().session);
            cut(req.extras_.own().correlation_id);
        }
    }

    /// Says in its metadata where it stands in a trace; what was said of another one goes.
    void place_in_trace(std::string traceparent, bool is_new) {
        auto& metadata = req.extras_.own().metadata;
        metadata[traceparent_key] = std::move(traceparent);
        if (is_new) {
            metadata.erase(tracestate_key);
        }
    }

    /// Null if it has none.
    const request_extras* extras() const noexcept { return req.extras_.get(); }

    bool has_session() const noexcept { return !req.session().empty(); }

    /// It takes a place that a lease holds.
    bool is_leased() const noexcept { return ties && ties->lease; }

    call* as_call() noexcept override { return this; }
    void forget() noexcept override { sink->forget(); }
    claim_view view() const noexcept override { return {req.command(), req.session(), attempts}; }

    request req;
    call_sink* sink;
    std::string body;           ///< encoded; see append_call
    std::exception_ptr refusal; ///< why it cannot be encoded
    time_point dispatched;
    time_point deadline = time_point::max();
    patient_deadline overdue;        ///< once abandoned: when the worker is to be done with it
    stream_flow* stream = nullptr;   ///< null if it has one answer
    std::unique_ptr<call_ties> ties; ///< null for most
    std::uint64_t id = 0;            ///< on the connection of `assigned_worker`
    int attempts = 0;
    call_state state = call_state::fresh;
    bool is_private = false; ///< a probe, or a part of a warm-up: the pool does not know of it
};

using call_ptr = boost::intrusive_ptr<call>;

struct tool_tie {
    call_ptr outer; ///< the call that the tool serves
    std::string tool;
    std::string correlation_id;
    boost::json::object trace; ///< what the metadata of the calls that it makes begin with
};

} // namespace skep
