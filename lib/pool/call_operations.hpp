// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/unary_call.hpp"
#include "pool/operation.hpp"
#include "pool/stream_reader.hpp"

namespace skep {

using unary_ptr = boost::intrusive_ptr<unary_call>;

/// Runs a call from submission to its answer.
asio::awaitable<reply> run_call(core_ptr core, unary_ptr new_call);

/// Runs a stream until a worker has it.
asio::awaitable<reply_stream> run_stream(core_ptr core, stream_ptr stream);
stream_ptr make_stream(const pool_core& core, request call);

} // namespace skep
