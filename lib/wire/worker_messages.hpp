// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/frame.hpp"
#include "wire/json_fields.hpp"
#include <skep/blob.hpp>
#include <skep/log.hpp>
#include <skep/progress.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace skep {

inline constexpr int protocol_version = 1;

/// Of one message, either way.
inline constexpr std::size_t most_attachments = 65'536;

// How much is kept of what a worker says of an error: the beginning, of the traceback the end, in bytes.
inline constexpr std::size_t longest_name = 256;
inline constexpr std::size_t longest_error_message = 64u << 10;
inline constexpr std::size_t longest_traceback = 256u << 10;

inline constexpr std::size_t longest_progress_text = 4u << 10;

/// Of a worker's own event, and of what it logs, the JSON; of the latter more is cut off.
inline constexpr std::size_t longest_event = 16u << 10;
inline constexpr std::size_t longest_log_text = 16u << 10;
/// The JSON of a message that nobody has asked for: neither an answer nor a tool call. A log record fits in with its text
/// escaped six times as long.
inline constexpr std::size_t longest_message = 128u << 10;

inline constexpr std::size_t most_event_members = 64; ///< of the measurements, and of the metadata

/// Of one call, that have not been answered: while the worker reads nothing, so many answers pile up, each a frame.
inline constexpr std::size_t most_tool_calls = 16;

/// What a worker may send.
struct hello_message {
    std::int64_t protocol = 0;
    std::string token;
    std::int64_t pid = 0;
    std::string sdk;
    std::uint64_t capacity = 1;
    std::vector<std::string> commands;
    std::string health_check;     ///< the command that probes it; empty if it has none
    bool own_health_check = true; ///< it looks at more than that the worker answers
    int stack_signal = 0;         ///< on which it prints its stacks to stderr; 0 if it does not
};
struct ready_message {};
struct result_message {
    std::uint64_t id = 0;
    boost::json::value value;
    std::vector<blob> attachments;
};
struct chunk_message {
    std::uint64_t id = 0;
    boost::json::value value;
    std::vector<blob> attachments;
    std::size_t bytes = 0; ///< of its JSON and its attachments, for the credit
};
struct error_message {
    std::uint64_t id = 0;
    std::string type;
    std::string message;
    std::string traceback;
    std::string code;        ///< by which the worker's code says that the caller is at fault; else empty
    boost::json::value data; ///< that goes with it
};
struct progress_message {
    std::uint64_t id = 0;
    progress report;
};
struct tool_call_message {
    std::uint64_t id = 0;     ///< the call that it is made during
    std::uint64_t number = 0; ///< which one it is; they rise
    std::string name;
    boost::json::object args;
    std::vector<blob> attachments;
    std::string parent_span; ///< that it is made within, of the call's trace; empty if it has not said
};
struct pong_message {
    std::uint64_t sequence = 0;
    std::uint64_t in_flight = 0;
    std::uint64_t completed = 0;
};
/// That it was a part of a trace.
struct span_message {
    std::string trace_id;
    std::string span_id;
    std::string parent_id;
    std::string outcome;
    std::chrono::microseconds start{}; ///< since 1970
    std::chrono::microseconds time{};  ///< that it took
};
/// Something that the worker's code tells, see events::worker_emitted.
struct event_message {
    std::string name;
    boost::json::object measurements;
    boost::json::object metadata;
    std::string correlation_id;
    std::uint64_t dropped = 0; ///< that it had no place for, so far
    std::optional<span_message> span;
};
/// Something that it logs.
struct log_message {
    log_level level = log_level::info;
    std::string logger;
    std::string text;
    std::string correlation_id;
};
using worker_message =
    std::variant<hello_message, ready_message, result_message, chunk_message, error_message, progress_message,
                 tool_call_message, pong_message, event_message, log_message>;

/// Of what a worker says unasked.
struct message_limits {
    std::size_t message_bytes =
        longest_message; ///< JSON of a message that is neither an answer nor a tool call
    std::size_t tool_call_bytes = static_cast<std::size_t>(-1); ///< its frame, without the first four bytes
};

/// Whether it answers a call, or is a piece of such an answer: what a caller has asked for.
inline bool is_answer(const worker_message& message) noexcept {
    return std::holds_alternative<result_message>(message) ||
           std::holds_alternative<chunk_message>(message) || std::holds_alternative<error_message>(message);
}

/// Turns frames of one channel into typed messages. Everything a worker sends is taken for hostile: a missing
/// field, a wrong type, an unknown message or attachments that do not add up throw protocol_violation.
/// Unknown fields are ignored, so that later protocol revisions may add some.
class worker_message_decoder {
public:
    explicit worker_message_decoder(const json_limits& json, const message_limits& limits = {})
        : reader_(json), limits_(limits) {}

    worker_message decode(const frame_view& frame);

    // The same in steps; see json_field_reader.
    void begin(const frame_view& frame) { reader_.begin(frame.json); }
    bool read_on(std::size_t cost) { return reader_.read_on(cost); }
    worker_message finish(const frame_view& frame);

    /// Nanoseconds that `message` of `frame`, which was decoded last, has cost, by estimate.
    std::size_t cost_of(const worker_message& message, const frame_view& frame) const noexcept;

private:
    void check_size(std::string_view type, const frame_view& frame) const;
    worker_message to_message(std::vector<json_field>& read, const frame_view& frame) const;

    json_field_reader reader_;
    message_limits limits_;
};

} // namespace skep
