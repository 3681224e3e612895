// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call_sink.hpp"
#include "call/call_text.hpp"
#include "call/call_trace.hpp"
#include "call/claim.hpp"
#include "call/progress_relay.hpp"
#include "core/request_extras.hpp"
#include "core/text.hpp"
#include "core/trace_context.hpp"
#include "policy/patient_deadline.hpp"
#include "policy/pipelining.hpp"
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

/// State of a call.
enum class call_state : std::uint8_t {
    fresh,     ///< not yet seen by the pool
    queued,    ///< waits for a worker
    delayed,   ///< lost with its worker; waits to be sent again
    running,   ///< a worker has the call
    abandoned, ///< the caller has been answered (timeout, cancel); the worker still has the call
    done
};

/// State that only streams have.
struct stream_flow {
    stream_window window;
    duration idle_timeout{}; ///< longest wait for a chunk while the worker may send one; 0 = no limit
    time_point heard;        ///< start of that wait
    bool has_begun = false;  ///< a chunk has arrived
};

/// Links a call made by a tool to the call that the tool serves.
struct tool_tie;

/// Parts that few calls have.
struct call_ties {
    std::shared_ptr<const tool_tie> parent_tie; ///< null unless a tool made the call
    std::shared_ptr<progress_relay> progress;   ///< null unless the caller asked for progress
    claim_ptr lease;                            ///< the lease of the call; null for most
    std::unique_ptr<call_trace> trace;          ///< null if the call is not traced
};

/// One call from execute() to its end: a request and the sink for its answer.
struct call : claim {
    call(request&& new_request, call_sink* answer_sink) : req(std::move(new_request)), sink(answer_sink) {}

    /// Encodes the body and drops the arguments. Throws error(frame_too_large) or error(invalid_request).
    void encode(const limit_options& limits) {
        thread_local text_memory memory;
        auto& text = memory.text;
        text =
            encode_call(req, limits, stream != nullptr ? &stream->window.size() : nullptr, std::move(text));
        body.take(text);
        req.args_ = nullptr;
    }

    /// Drops the data that only the worker needs.
    void drop_payload() noexcept {
        body.clear();
        req.attachments_.clear();
    }

    /// Truncates the names of a refused request to `longest_name`: errors, events and figures carry the
    /// names.
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

    /// Writes the call's place in a trace into the metadata. A new trace drops the tracestate of another
    /// trace.
    void place_in_trace(std::string traceparent, bool is_new) {
        auto& metadata = req.extras_.own().metadata;
        metadata[traceparent_key] = std::move(traceparent);
        if (is_new) {
            metadata.erase(tracestate_key);
        }
    }

    /// Returns null if the request has none.
    const request_extras* extras() const noexcept { return req.extras_.get(); }

    bool has_session() const noexcept { return extras() != nullptr && !req.session().empty(); }

    /// Returns true if the call takes a place of a lease.
    bool is_leased() const noexcept { return ties && ties->lease; }

    call* as_call() noexcept override { return this; }
    void forget() noexcept override { sink->forget(); }
    claim_view view() const noexcept override { return {req.command(), req.session(), attempts}; }

    request req;
    call_sink* sink;
    call_text body;             ///< see append_call
    std::exception_ptr refusal; ///< why the call cannot be sent
    time_point dispatched;
    time_point deadline = time_point::max();
    patient_deadline overdue;        ///< once abandoned: when the worker must have ended the call
    stream_flow* stream = nullptr;   ///< null for a call with one answer
    std::unique_ptr<call_ties> ties; ///< null for most calls
    std::uint64_t id = 0;            ///< number on the connection of `assigned_worker`; 0 = none yet
    std::uint64_t place_id = 0;   ///< id of the first call in its place at the worker: its batch, or itself
    std::uint32_t batch_size = 1; ///< number of calls in its batch, with itself
    int attempts = 0;
    call_state state = call_state::fresh;
    std::uint8_t refusals = 0; ///< by nodes, which have not begun it; attempts do not count them
    bool is_private = false;   ///< a probe or part of a warm-up: unknown to the pool
    bool runs_alone = false;   ///< in no batch: a worker crashed with a batch that it was in

    // At its worker.
    bool is_recalled = false;             ///< the worker was asked to give the call back
    bool is_seen = false;                 ///< running: it has sent a chunk, a report or a tool call
    pace expected_pace = pace::slow;      ///< decides how many calls may lie behind the call
    time_point begun = time_point::max(); ///< from when on the worker could run the call
};

using call_ptr = boost::intrusive_ptr<call>;

struct tool_tie {
    call_ptr outer; ///< the call that the tool serves
    std::string tool;
    std::string correlation_id;
    boost::json::object trace; ///< initial trace metadata of the calls that the tool makes
};

} // namespace skep
