// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/guest_group.hpp"
#include "worker/worker_core.hpp"

#include <string>

namespace skep {

/// What the user's initialization_delegate does about one worker before that serves. How long it may take is up to the
/// worker's life, which has the guests cancelled. On the pool's strand.
class initialization {
public:
    initialization(worker_core& core, guest_group& guests) noexcept : core_(core), guests_(guests) {}

    /// Whether there is a delegate; else nothing of this is to be called.
    bool is_wanted() const noexcept { return core_.config.initialization.delegate != nullptr; }

    /// What the worker is to be started with. Throws error(initialization_failed).
    asio::awaitable<launch_options> plan_launch();

    /// Why the worker is not to serve; empty if it is.
    asio::awaitable<std::string> warm_up();

private:
    worker_core& core_;
    guest_group& guests_;
};

} // namespace skep
