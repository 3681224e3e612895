// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/guest_group.hpp"
#include "worker/worker_core.hpp"

#include <string>

namespace skep {

/// Runs the user's initialization_delegate for one worker, before the worker serves. The worker's life limits
/// the time and has the guests cancelled. Used on the pool's strand.
class initialization {
public:
    initialization(worker_core& core, guest_group& guests) noexcept : core_(core), guests_(guests) {}

    /// Returns true if a delegate exists. Precondition of the other functions.
    bool is_wanted() const noexcept { return core_.config.initialization.delegate != nullptr; }

    /// Returns the options to start the worker with. Throws error(initialization_failed).
    asio::awaitable<launch_options> plan_launch();

    /// Returns the reason to keep the worker from service, or an empty text.
    asio::awaitable<std::string> warm_up();

private:
    worker_core& core_;
    guest_group& guests_;
};

} // namespace skep
