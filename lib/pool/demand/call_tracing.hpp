// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call.hpp"
#include "runtime/pool_context.hpp"
#include "telemetry/call_recorder.hpp"
#include <skep/errc.hpp>

#include <optional>
#include <string>
#include <vector>

namespace skep {

/// Gives a call its place in the trace named in its metadata, or in a new trace, if spans have subscribers.
/// `share`: fraction of the new traces to be recorded, 0..1. To be called before encoding, on any thread.
void begin_trace(call& new_call, const pool_context& context, double share);

/// Begins the span of a batch that is being sent, if any of its calls is traced. The span is published with
/// those of the last such call.
void begin_batch_trace(const std::vector<call*>& batch, const pool_context& context);

/// Publishes the spans of a call, just before its end. `code`: its error; empty on success.
void publish_spans(const pool_context& context, const std::string& pool, const call& ended_call,
                   const time_spent& times, const std::optional<errc>& code) noexcept;

} // namespace skep
