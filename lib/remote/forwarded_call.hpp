// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/call_interface.hpp>
#include <skep/worker_call.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/value.hpp>

namespace skep {

/// Runs a client's call at the node: passes it on to `calls`, and its progress, chunks and answer back.
/// Returns the value of the answer. Throws the call's failure in the form for the client.
boost::asio::awaitable<boost::json::value> forward_call(call_interface& calls, worker_call& call);

} // namespace skep
