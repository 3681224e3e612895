// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/stream_credit.hpp"
#include "wire/frame.hpp"
#include "wire/json_fields.hpp"
#include <skep/blob.hpp>
#include <skep/time.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace skep {

/// What the host takes from a worker. It ends one that sends more.
struct worker_limits {
    std::size_t frame_bytes = 64u << 20;
    std::size_t json_bytes = 64u << 20;
    std::size_t json_depth = 512; ///< of the message, which is one level itself
    std::size_t tree_bytes = 96u << 20;
    std::size_t attachments = 65'536;
    std::size_t tool_calls = 1; ///< of one call, unanswered at a time

    // An older host does not name these.
    std::size_t message_bytes =
        static_cast<std::size_t>(-1); ///< JSON of other messages than answers and tool calls
    std::size_t tool_call_bytes = static_cast<std::size_t>(-1); ///< the frame of a tool call
};

/// What a host may send.
struct welcome_message {
    worker_limits limits;
    std::size_t capacity = 0;  ///< calls that the worker may be at at once; 0 = as many as it offers
    std::string correlation;   ///< the beginning of the id of a call that has none of its own
    std::string previous_exit; ///< empty if it is not known
};
struct call_message {
    std::uint64_t id = 0;
    std::string command;
    boost::json::value args; ///< an object
    std::vector<blob> attachments;
    std::string session;
    std::string correlation_id;
    boost::json::object metadata;
    std::optional<duration> left;       ///< until its deadline, when the host sent it
    std::optional<duration> sent_after; ///< the welcome; not told of a call that could not have to wait
    std::optional<stream_credit> stream;
};
struct cancel_message {
    std::uint64_t id = 0;
};
struct credit_message {
    std::uint64_t id = 0;
    stream_credit more;
};
struct tool_result_message {
    std::uint64_t tool_call = 0;
    boost::json::value value;
    std::vector<blob> attachments;
};
struct tool_error_message {
    std::uint64_t tool_call = 0;
    std::string type;
    std::string message;
    std::string code;
    boost::json::value data;
};
struct ping_message {
    std::uint64_t sequence = 0;
};
struct shutdown_message {};
using host_message = std::variant<welcome_message, call_message, cancel_message, credit_message,
                                  tool_result_message, tool_error_message, ping_message, shutdown_message>;

/// Turns frames of one channel into typed messages, in a worker. Throws protocol_violation for what is no message of the
/// protocol; members that it does not know are ignored.
class host_message_decoder {
public:
    host_message_decoder();

    host_message decode(const frame_view& frame);

private:
    json_field_reader reader_;
};

} // namespace skep
