// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/keyed_digest.hpp"
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
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// Encodes what is the same in a call's frame whichever worker gets it: the JSON from the command on. Done once,
/// by the caller. Throws error(frame_too_large) or error(invalid_request) if the call cannot be sent, or one of its names
/// (command, session, correlation id, keys of its metadata) is longer than longest_name. What can be sent could be sent
/// back within the same limits.
/// `stream` is the credit that the worker of a stream begins with; null for other calls.
std::string encode_call(const request& call, const limit_options& limits,
                        const stream_credit* stream = nullptr);

/// What a worker sees of a call, but for what is another one each time: times, correlation id, place in a trace. Command,
/// session, metadata, arguments and attachments, that is. `body` is what encode_call made of `call`. In time proportional
/// to the input.
keyed_digest::value digest_of(std::string_view body, const request& call, const keyed_digest::key& secret);

/// The same for inputs of one digest, and known without reading the input: tells most others apart from it.
std::uint64_t outline_of(const request& call) noexcept;

// Each appends one whole frame with a message of the host.

/// What a call's frame tells of time.
struct call_times {
    std::optional<duration> left; ///< until its deadline, if it has one

    /// Since the welcome was sent, if the call is pipelined: the worker, which may come to it much later, can tell
    /// from that how long it has lain there.
    std::optional<duration> sent_after;
};

/// `body` is what encode_call made of `call`, whose attachments follow it.
void append_call(send_buffer& out, std::uint64_t id, std::string_view body, const request& call,
                 const call_times& times);

/// What a worker is told once it has said hello.
struct welcome {
    const worker_id& worker;
    const heartbeat_options& heartbeat;
    const limit_options& limits;             ///< every one that the host holds it to
    std::size_t capacity;                    ///< calls that it may be at at once
    std::string_view correlation;            ///< what the ids begin with that calls without one have
    std::optional<exit_class> previous_exit; ///< how the worker before it in its slot ended
};
void append_welcome(std::string& out, const welcome& facts);

/// Why a tool call has no result.
struct tool_failure {
    std::string type; ///< of what was thrown; what begins with "skep." is the host's own
    std::string message;
    std::string code; ///< by which the tool says what is wrong; else empty
    boost::json::value data;
};

/// One whole frame: its attachments follow the text.
struct encoded_frame {
    std::string text;
    std::vector<blob> attachments;
};

// The answer to a worker's tool call.

/// Throws error(frame_too_large) or error(invalid_request) if it cannot be sent.
encoded_frame encode_tool_result(std::uint64_t tool_call, tool_reply answer, const limit_options& limits);

/// Within the limits whatever it says: texts are cut, and data that cannot be sent is left out.
encoded_frame encode_tool_error(std::uint64_t tool_call, const tool_failure& failure,
                                const limit_options& limits);

/// All of it or, if it throws, nothing.
void append_frame(send_buffer& out, const encoded_frame& frame);

void append_cancel(std::string& out, std::uint64_t id);
void append_credit(std::string& out, std::uint64_t id, stream_credit more);
void append_ping(std::string& out, std::uint64_t sequence);
void append_shutdown(std::string& out, duration grace);

} // namespace skep
