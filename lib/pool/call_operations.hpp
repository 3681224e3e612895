// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/operation.hpp"
#include "pool/pool_stream_reader.hpp"
#include <skep/call_operation.hpp>

namespace skep {

/// Makes a call of a pool; the caller begins the call. `lease`: null for most calls.
call_operation make_call(core_ptr core, request&& new_request, claim_ptr lease = nullptr);

/// Makes a call of a pool whose answer comes in chunks; the caller begins the call. `lease`: null for most
/// calls.
stream_operation make_stream_call(core_ptr core, request&& new_request, claim_ptr lease = nullptr);

} // namespace skep
