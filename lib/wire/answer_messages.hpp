// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/attachments.hpp"
#include "wire/call_messages.hpp"
#include "wire/worker_messages.hpp"
#include <skep/blob.hpp>

#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// A message exceeds the host's limits. The text names sizes and limits, and contains no data.
class too_large : public std::length_error {
public:
    using std::length_error::length_error;
};

// Each function appends one frame with a message of a worker. A message with attachments states their sizes
// or places; the caller sends the bytes of attachments without a place right behind. A function that throws
// appends nothing.

void append_hello(std::string& out, const hello_message& hello, bool has_control);
void append_ready(std::string& out);
void append_recalled(std::string& out, std::uint64_t id);
void append_release(std::string& out, const region_place& place);
void append_region_request(std::string& out, std::size_t bytes);
void append_pong(std::string& out, const pong_message& pong);
void append_progress(std::string& out, std::uint64_t id, double fraction, std::string_view text);

enum class answer_kind { result, chunk };

/// `from_node`: the facts of a node; null for a worker.
/// Returns the number of bytes of the JSON. Throws unsendable or too_large.
std::size_t append_answer(std::string& out, answer_kind kind, std::uint64_t id,
                          const boost::json::value& value, const placed_attachments& attachments,
                          const worker_limits& limits, const node_answer* from_node = nullptr);

/// Throws unsendable or too_large.
void append_tool_call(std::string& out, std::uint64_t id, std::uint64_t tool_call, std::string_view name,
                      const boost::json::value& args, const placed_attachments& attachments,
                      const worker_limits& limits);

/// Always succeeds within the limits. Repairs and cuts text. Omits data beyond the host's limits, and says so
/// in the message.
void append_error(std::string& out, const error_message& error, const worker_limits& limits);

} // namespace skep
