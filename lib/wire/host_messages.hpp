// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/batch_limits.hpp"
#include "core/keyed_digest.hpp"
#include "core/region_place.hpp"
#include "core/stream_credit.hpp"
#include "wire/send_buffer.hpp"
#include <skep/exit_class.hpp>
#include <skep/pool_config.hpp>
#include <skep/request.hpp>
#include <skep/time.hpp>
#include <skep/tool.hpp>
#include <skep/worker_id.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// Encodes the part of a call's frame that is the same for every worker: the JSON from the command on. Runs
/// once, in the caller. `stream`: the initial credit of a stream's worker; null for other calls. Throws
/// error(frame_too_large) or error(invalid_request) if the call cannot be sent, or if a name (command,
/// session, batch key, correlation id, key of the metadata) is longer than longest_name. A value that can be
/// sent can be sent back within the same limits. `memory`: of the text of an earlier call, to be used again.
std::string encode_call(const request& call, const limit_options& limits,
                        const stream_credit* stream = nullptr, std::string memory = {});

/// Returns the digest of the call as seen by a worker: command, session, metadata, arguments and attachments.
/// Leaves out the parts that differ with each call: times, correlation id, place in a trace. `body`: the
/// result of encode_call() for `call`. Complexity: linear in the input.
keyed_digest::value digest_of(std::string_view body, const request& call, const keyed_digest::key& secret);

/// Returns the outline of the call, without reading the input. Inputs of one digest have the same outline;
/// most other inputs differ.
std::uint64_t outline_of(const request& call) noexcept;

// Each function appends one whole frame with a message of the host.

/// The members of a call's frame that differ each time the call is sent.
struct call_dispatch {
    std::optional<duration> left; ///< until the deadline, if any

    /// Since the welcome, if the call is pipelined. A worker that begins the call much later can tell from
    /// this time how long the call has waited.
    std::optional<duration> sent_after;

    batch_place batch{};

    /// For a call to a node: the names of the tools that the call may use. Null for other calls.
    const std::vector<std::string>* tools_for_node = nullptr;

    /// The attachments that lie in shared memory, each at its index; no region for attachments of the frame.
    /// Empty: all are in the frame.
    std::span<const region_place> places{};

    /// The places of results in shared memory that the worker may use again.
    std::span<const region_place> released{};
};

/// Returns how many attachments of the call may lie in shared memory within `limits`, which are those of
/// encode_call().
std::size_t room_for_places(std::string_view body, const limit_options& limits) noexcept;

/// Returns how many released places may be in the frame of the call within `limits`, whatever attachments lie
/// in shared memory.
std::size_t room_for_released(std::string_view body, const request& call,
                              const limit_options& limits) noexcept;

/// Returns the same for a credit.
std::size_t room_for_released(const limit_options& limits) noexcept;

/// `body`: the result of encode_call() for `call`. The call's attachments follow the body, except the
/// attachments with a place. Appends the whole frame, or nothing if it throws.
void append_call(send_buffer& out, std::uint64_t id, std::string_view body, const request& call,
                 const call_dispatch& facts);

/// The facts for a worker after its hello.
struct welcome {
    const worker_id& worker;
    const heartbeat_options& heartbeat;
    const limit_options& limits;             ///< all limits of the host for the worker
    std::size_t capacity;                    ///< concurrent calls
    std::string_view correlation;            ///< the prefix of the ids of calls without an id
    std::string_view log_level;              ///< least level of the host's log
    std::optional<exit_class> previous_exit; ///< the way the previous worker of the slot ended
    const shared_options* shared = nullptr;  ///< null: no memory is shared with the worker
};
void append_welcome(std::string& out, const welcome& facts);

/// The reason for a tool call without a result.
struct tool_failure {
    std::string type; ///< of the exception; types that begin with "skep." are the host's own
    std::string message;
    std::string code; ///< the tool's code for the failure; may be empty
    boost::json::value data;
};

/// One whole frame. The attachments follow the text.
struct encoded_frame {
    std::string text;
    std::vector<blob> attachments;
};

// The answer to a worker's tool call.

/// Throws error(frame_too_large) or error(invalid_request) if the answer cannot be sent.
encoded_frame encode_tool_result(std::uint64_t tool_call, tool_reply answer, const limit_options& limits);

/// Stays within the limits for any failure: cuts texts, and omits data that cannot be sent.
encoded_frame encode_tool_error(std::uint64_t tool_call, const tool_failure& failure,
                                const limit_options& limits);

/// Appends the whole frame, or nothing if it throws.
void append_frame(send_buffer& out, const encoded_frame& frame);

void append_cancel(std::string& out, std::uint64_t id);
void append_recall(std::string& out, std::uint64_t id);
void append_credit(std::string& out, std::uint64_t id, stream_credit more,
                   std::span<const region_place> released = {});
void append_ping(std::string& out, std::uint64_t sequence);
void append_shutdown(std::string& out, duration grace);

} // namespace skep
