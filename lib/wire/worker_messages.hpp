// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/batch_limits.hpp"
#include "core/node_call.hpp"
#include "core/region_place.hpp"
#include "wire/frame.hpp"
#include "wire/json_fields.hpp"
#include <skep/blob.hpp>
#include <skep/log.hpp>
#include <skep/progress.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace skep {

class memory_source;

inline constexpr int protocol_version = 1;

/// Per message, in both directions.
inline constexpr std::size_t most_attachments = 65'536;

/// Of an engine.
inline constexpr std::uint64_t most_slots = 65'536;

// The bytes kept of a worker's error: the beginning of each text, and the end of the traceback.
inline constexpr std::size_t longest_name = 256;
inline constexpr std::size_t longest_error_message = 64u << 10;
inline constexpr std::size_t longest_traceback = 256u << 10;

inline constexpr std::size_t longest_worker_id = 256; ///< in the facts of a node

inline constexpr std::size_t longest_progress_text = 4u << 10;

/// The longest JSON of a worker's event, and the longest text of a log record. A longer log text is cut.
inline constexpr std::size_t longest_event = 16u << 10;
inline constexpr std::size_t longest_log_text = 16u << 10;
/// The longest JSON of an unasked message: neither an answer nor a tool call. A log record fits even if
/// escapes make its text six times as long.
inline constexpr std::size_t longest_message = 128u << 10;

inline constexpr std::size_t most_event_members = 64; ///< per measurements, and per metadata

/// Unanswered tool calls per call. While the worker reads nothing, as many answers pile up, each a frame.
inline constexpr std::size_t most_tool_calls = 16;

/// Messages of a worker.
struct hello_message {
    std::int64_t protocol = 0;
    std::string token;
    std::int64_t pid = 0;
    std::string sdk;
    std::uint64_t capacity = 1;
    std::vector<std::string> commands;
    std::string health_check;     ///< the command that probes the worker; empty if none
    bool own_health_check = true; ///< the command checks more than whether the worker answers
    int stack_signal = 0;         ///< the signal that prints the stacks to stderr; 0 = none
    std::string loop;             ///< what receives its calls, such as "c"; empty if unknown
    bool recall = false;          ///< it gives back calls that it has not begun
    batch_commands batches;       ///< the commands that run many calls at once
    std::uint64_t slots = 0;      ///< calls that an engine serves at once; 0 = it has no engine
    std::uint64_t shared = 0;     ///< version of the memory that it can share; 0 = none
};
struct ready_message {};
struct result_message {
    std::uint64_t id = 0;
    boost::json::value value;
    std::vector<blob> attachments;
    std::shared_ptr<const node_answer> from_node{}; ///< null unless a node has told its facts
};
struct chunk_message {
    std::uint64_t id = 0;
    boost::json::value value;
    std::vector<blob> attachments;
    std::size_t bytes = 0; ///< of JSON and attachments, also shared ones, for the credit
};
struct error_message {
    std::uint64_t id = 0;
    std::string type;
    std::string message;
    std::string traceback;
    std::string code;        ///< set by the worker's code if the caller is at fault; otherwise empty
    boost::json::value data; ///< belongs to the code
    std::shared_ptr<const node_answer> from_node{}; ///< null unless a node has told its facts
};
struct progress_message {
    std::uint64_t id = 0;
    progress report;
};
struct tool_call_message {
    std::uint64_t id = 0;     ///< the call that makes the tool call
    std::uint64_t number = 0; ///< ascending number of the tool call
    std::string name;
    boost::json::object args;
    std::vector<blob> attachments;
    std::string parent_span; ///< the span around the tool call, in the call's trace; empty if unknown
};
/// A recalled call has not begun, and will not begin.
struct recalled_message {
    std::uint64_t id = 0;
};
/// The worker no longer reads an attachment in shared memory.
struct release_message {
    region_place place;
};
/// The worker asks for a region of shared memory for its results.
struct region_message {
    std::uint64_t bytes = 0;
};
struct pong_message {
    std::uint64_t sequence = 0;
    std::uint64_t in_flight = 0;
    std::uint64_t completed = 0;
};
/// The place of an event in a trace.
struct span_message {
    std::string trace_id;
    std::string span_id;
    std::string parent_id;
    std::string outcome;
    std::chrono::microseconds start{}; ///< since 1970
    std::chrono::microseconds time{};  ///< duration
};
/// An event of the worker's code; see events::worker_emitted.
struct event_message {
    std::string name;
    boost::json::object measurements;
    boost::json::object metadata;
    std::string correlation_id;
    std::uint64_t dropped = 0; ///< events dropped so far for lack of room
    std::optional<span_message> span;
};
/// A log record of the worker's code.
struct log_message {
    log_level level = log_level::info;
    std::string logger;
    std::string text;
    std::string correlation_id;
};
using worker_message =
    std::variant<hello_message, ready_message, result_message, chunk_message, error_message, progress_message,
                 tool_call_message, recalled_message, release_message, region_message, pong_message,
                 event_message, log_message>;

/// Limits for unasked messages and tool calls.
struct message_limits {
    std::size_t message_bytes = longest_message; ///< JSON of a message except answers and tool calls
    std::size_t tool_call_bytes = static_cast<std::size_t>(-1); ///< the frame, without its first four bytes
};

/// Returns true if the message answers a call, in whole or in part, at a caller's request.
inline bool is_answer(const worker_message& message) noexcept {
    return std::holds_alternative<result_message>(message) ||
           std::holds_alternative<chunk_message>(message) || std::holds_alternative<error_message>(message);
}

/// Turns frames of one channel into typed messages. All input from a worker is treated as hostile: a missing
/// field, a wrong type, an unknown message or inconsistent attachments throw protocol_violation. Unknown
/// fields are ignored, so that later protocol revisions may add fields.
class worker_message_decoder {
public:
    explicit worker_message_decoder(const json_limits& json, const message_limits& limits = {})
        : reader_(json), limits_(limits) {}

    /// Allows attachments in shared memory from now on. `memory` must outlive this object.
    void share(memory_source& memory) noexcept { memory_ = &memory; }

    worker_message decode(const frame_view& frame);

    // The same in steps; see json_field_reader.
    void begin(const frame_view& frame) { reader_.begin(frame.json); }
    bool read_on(std::size_t cost) { return reader_.read_on(cost); }
    worker_message finish(const frame_view& frame);

    /// Returns the estimated cost of `message` of `frame`, the last message decoded, in nanoseconds.
    std::size_t cost_of(const worker_message& message, const frame_view& frame) const noexcept;

private:
    void check_size(std::string_view type, const frame_view& frame) const;
    worker_message to_message(std::vector<json_field>& read, const frame_view& frame) const;

    json_field_reader reader_;
    message_limits limits_;
    memory_source* memory_ = nullptr; ///< null: attachments are in the frame
};

} // namespace skep
