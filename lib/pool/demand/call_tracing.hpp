// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call.hpp"
#include "runtime/pool_context.hpp"
#include "telemetry/call_recorder.hpp"
#include <skep/errc.hpp>

#include <optional>
#include <string>

namespace skep {

/// Gives a call its place in the trace named in its metadata, or in a new trace, if spans have subscribers.
/// `share`: fraction of the new traces to be recorded, 0..1. To be called before encoding, on any thread.
void begin_trace(call& new_call, const pool_context& context, double share);

/// Publishes the spans of a call, just before its end. `code`: its error; empty on success.
void publish_spans(const pool_context& context, const std::string& pool, const call& ended_call,
                   const time_spent& times, const std::optional<errc>& code) noexcept;

} // namespace skep
