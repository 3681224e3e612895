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

/// Gives a call its place in the trace that its metadata name, or in one that begins with it, if anybody wants to know of
/// spans. Of those that would begin one, `share` do. Before it is encoded; on any thread.
void begin_trace(call& new_call, const pool_context& context, double share);

/// It is about to be over; `code` is what it fails with, if it does.
void publish_spans(const pool_context& context, const std::string& pool, const call& ended_call,
                   const time_spent& times, const std::optional<errc>& code) noexcept;

} // namespace skep
