// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <string>

namespace skep {

/// Error text: why a call did not go to the node of its session.
inline constexpr auto home_is_missing = "there was no link to the node of its session";

/// The facts about a call whose time is over.
struct late_call {
    enum class position {
        queued,             ///< waits for any worker
        queued_for_session, ///< waits for the worker of its session
        queued_for_home,    ///< waits until the node of its session is found and has a link
        queued_in_lease,    ///< waits for a place of its lease
        pipelined,          ///< was sent ahead to a busy worker that cannot have begun the call
        delayed,            ///< was lost with its worker, and waits to be sent again
        running
    };

    position where{};
    bool was_lost = false; ///< a worker was lost that may have begun the call
    std::string shortage;  ///< why workers are missing; empty if the pool is complete

    // Of a running call.
    duration wait_time{}; ///< before the call was sent
    duration run_time{};
};

/// Returns the detail of the error `timeout`, including advice. Empty for a call that ran for most of its
/// time: the phrase and the advice of the code fit that call.
std::string timeout_detail(const late_call& facts);

} // namespace skep
