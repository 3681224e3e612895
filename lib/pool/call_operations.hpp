// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/operation.hpp"
#include "pool/stream_reader.hpp"
#include <skep/call_operation.hpp>

namespace skep {

/// A call of a pool, to be begun. `lease`: null for most.
call_operation make_call(core_ptr core, request&& new_request, claim_ptr lease = nullptr);

/// Prepares a call of a pool whose answer comes in chunks. `lease`: null for most.
stream_operation make_stream_call(core_ptr core, request&& new_request, claim_ptr lease = nullptr);

} // namespace skep
