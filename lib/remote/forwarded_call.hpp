// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include <skep/call_interface.hpp>
#include <skep/worker_call.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/value.hpp>

#include <memory>

namespace skep {

/// The link that a call has come by.
struct link_context {
    std::shared_ptr<void> owner; ///< keeps the link in memory
    strand executor;
};

/// Runs a client's call at the node: passes it on to `calls`, and its progress, chunks, tools and answer
/// back. Returns the value of the answer. Throws the call's failure in the form for the client.
boost::asio::awaitable<boost::json::value> forward_call(call_interface& calls, worker_call& call,
                                                        link_context link);

} // namespace skep
