// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/exit_class.hpp>
#include <skep/pool_config.hpp>
#include <skep/request.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

/// Encodes what is the same in a call's frame whichever worker gets it: the JSON from the command on. Done once,
/// by the caller. Throws error(frame_too_large) or error(invalid_request) if the call cannot be sent.
std::string encode_call(const request& call, std::size_t frame_limit);

/// Tells inputs apart: command, arguments and attachments, not who asks and why. `body` is what encode_call made of
/// `call`.
std::uint64_t fingerprint(std::string_view body, const request& call);

// Each appends one whole frame with a message of the host.

/// `body` is what encode_call made of `call`, whose attachments follow it. `time_left` is what remains until its deadline, if it has one.
void append_call(std::string& out, std::uint64_t id, std::string_view body, const request& call,
                 std::optional<duration> time_left);

/// `previous_exit` is how the worker before it in its slot ended.
void append_welcome(std::string& out, const worker_id& worker, const heartbeat_options& heartbeat,
                    std::size_t frame_limit, std::optional<exit_class> previous_exit);
void append_cancel(std::string& out, std::uint64_t id);
void append_ping(std::string& out, std::uint64_t sequence);
void append_shutdown(std::string& out, duration grace);

} // namespace skep
