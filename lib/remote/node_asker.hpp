// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/hub_driver.hpp"
#include "wire/node_request.hpp"
#include <skep/export.hpp>
#include <skep/time.hpp>

#include <optional>
#include <string>

namespace skep {

/// A request of an operator to one node.
struct request_plan {
    std::string domain = "default";
    std::string node;
    node_action action{};
    std::string inbox = "_INBOX"; ///< the beginning of the subject for the answer
    duration connect_limit{};     ///< for the connection to the bus
    duration answer_limit{};      ///< for the answer, from the connection on
};

/// The outcome of a request.
struct request_outcome {
    bool is_connected = false; ///< in time
    bool is_missing = false;   ///< no node takes such requests under that name
    std::string problem;       ///< the last one: of connecting, or after the request; may be empty
    std::optional<action_outcome> answer;
};

/// Connects to the bus, sends the request, waits for the answer and closes the connection. A problem of the
/// bus after the request, such as a refusal or a lost connection, ends the wait. Runs on `executor`.
/// Cancellation (terminal): throws operation_aborted.
SKEP_API asio::awaitable<request_outcome> ask_node(strand executor, request_plan plan, bus_factory connect);

} // namespace skep
