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
/// by the caller. Throws error(frame_too_large) or error(invalid_request) if the call cannot be sent. What can be sent
/// could be sent back within the same limits.
std::string encode_call(const request& call, const limit_options& limits);

/// Tells inputs apart: command, arguments and attachments, not who asks and why. `body` is what encode_call made of
/// `call`.
std::uint64_t fingerprint(std::string_view body, const request& call);

// Each appends one whole frame with a message of the host.

/// What a call's frame tells of time.
struct call_times {
    std::optional<duration> left; ///< until its deadline, if it has one

    /// Since the welcome was sent, if the call is pipelined: the worker, which may come to it much later, can tell
    /// from that how long it has lain there.
    std::optional<duration> sent_after;
};

/// `body` is what encode_call made of `call`, whose attachments follow it.
void append_call(std::string& out, std::uint64_t id, std::string_view body, const request& call,
                 const call_times& times);

/// Tells the worker every limit that the host holds it to. `previous_exit` is how the worker before it in its slot
/// ended.
void append_welcome(std::string& out, const worker_id& worker, const heartbeat_options& heartbeat,
                    const limit_options& limits, std::optional<exit_class> previous_exit);
void append_cancel(std::string& out, std::uint64_t id);
void append_ping(std::string& out, std::uint64_t sequence);
void append_shutdown(std::string& out, duration grace);

} // namespace skep
