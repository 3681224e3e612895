// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/batch_limits.hpp"
#include "core/node_call.hpp"
#include "core/stream_credit.hpp"
#include "wire/attachments.hpp"
#include "wire/frame.hpp"
#include "wire/json_fields.hpp"
#include <skep/blob.hpp>
#include <skep/time.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace skep {

/// The host's limits for a worker. The host ends a worker that exceeds a limit.
struct worker_limits {
    std::size_t frame_bytes = 64u << 20;
    std::size_t json_bytes = 64u << 20;
    std::size_t json_depth = 512; ///< of the message, including the level of the message itself
    std::size_t tree_bytes = 96u << 20;
    std::size_t attachments = 65'536;
    std::size_t tool_calls = 1; ///< unanswered at a time, per call

    // An older host does not send these.
    std::size_t message_bytes =
        static_cast<std::size_t>(-1); ///< JSON of messages except answers and tool calls
    std::size_t tool_call_bytes = static_cast<std::size_t>(-1); ///< the frame of a tool call
};

/// The host's limits for shared memory, for each direction.
struct shared_limits {
    std::size_t least = 0;   ///< bytes of an attachment
    std::size_t bytes = 0;   ///< of all regions together, and of the shared attachments of one message
    std::size_t regions = 0; ///< number
};

/// Messages of the host.
struct welcome_message {
    worker_limits limits;
    std::size_t capacity = 0;            ///< concurrent calls of the worker; 0 = as many as the worker offers
    std::string correlation;             ///< the prefix of the id of a call without an id of its own
    std::string previous_exit;           ///< empty if unknown
    std::optional<shared_limits> shared; ///< present if attachments may lie in shared memory
};
struct call_message {
    std::uint64_t id = 0;
    std::string command;
    boost::json::value args; ///< an object
    std::vector<blob> attachments;
    std::string session;
    std::string correlation_id;
    boost::json::object metadata;
    std::optional<duration> left;       ///< until the deadline, at the time of sending
    std::optional<duration> sent_after; ///< since the welcome; absent for a call that need not wait
    std::optional<stream_credit> stream;
    batch_place batch;
    std::shared_ptr<const node_call> for_node; ///< null unless the call was sent to a node
    std::vector<region_place> released; ///< of results in shared memory: the worker may write there again
};
struct cancel_message {
    std::uint64_t id = 0;
};
/// The call is wanted back if it has not begun.
struct recall_message {
    std::uint64_t id = 0;
};
struct credit_message {
    std::uint64_t id = 0;
    stream_credit more;
    std::vector<region_place> released; ///< as in a call
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
using host_message =
    std::variant<welcome_message, call_message, cancel_message, recall_message, credit_message,
                 tool_result_message, tool_error_message, ping_message, shutdown_message>;

/// Turns frames of one channel into typed messages, in a worker. Throws protocol_violation for anything but a
/// message of the protocol. Ignores unknown members.
class host_message_decoder {
public:
    /// For messages of the host that has started this process: any number of values.
    host_message_decoder();

    explicit host_message_decoder(const json_limits& limits) : reader_(limits) {}

    /// `memory`: of the attachments in shared memory; null: a message must not have any.
    host_message decode(const frame_view& frame, memory_source* memory = nullptr);

private:
    json_field_reader reader_;
};

} // namespace skep
