// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

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

/// A message is beyond what the host takes. The text tells of sizes and limits, and of no data.
class too_large : public std::length_error {
public:
    using std::length_error::length_error;
};

// Each appends one frame with a message of a worker. Those that can carry attachments tell their sizes; their bytes are to
// follow right behind. What throws appends nothing.

void append_hello(std::string& out, const hello_message& hello, bool has_control);
void append_ready(std::string& out);
void append_pong(std::string& out, const pong_message& pong);
void append_progress(std::string& out, std::uint64_t id, double fraction, std::string_view text);

enum class answer_kind { result, chunk };

/// Returns how many bytes its JSON has. Throws unsendable or too_large.
std::size_t append_answer(std::string& out, answer_kind kind, std::uint64_t id,
                          const boost::json::value& value, const std::vector<blob>& attachments,
                          const worker_limits& limits);

/// Throws unsendable or too_large.
void append_tool_call(std::string& out, std::uint64_t id, std::uint64_t tool_call, std::string_view name,
                      const boost::json::value& args, const std::vector<blob>& attachments,
                      const worker_limits& limits);

/// Always finds something to say: text is repaired and cut, and data that the host would not take left out; the message
/// says so then.
void append_error(std::string& out, const error_message& error, const worker_limits& limits);

} // namespace skep
