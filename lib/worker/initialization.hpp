// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/guest_group.hpp"
#include "runtime/pool_context.hpp"
#include <skep/pool_config.hpp>

#include <string>

namespace skep {

class worker;

/// What the user's initialization_delegate does about one worker before that serves. How long it may take is up to the
/// worker's life, which has the guests cancelled. On the pool's strand.
class initialization {
public:
    initialization(const pool_context& context, const pool_config& config, guest_group& guests,
                   worker& subject);

    /// Whether there is a delegate; else nothing of this is to be called.
    bool is_wanted() const noexcept { return config_.initialization.delegate != nullptr; }

    /// What the worker is to be started with. Throws error(initialization_failed).
    asio::awaitable<launch_options> plan_launch();

    /// Why the worker is not to serve; empty if it is.
    asio::awaitable<std::string> warm_up();

private:
    const pool_context& context_;
    const pool_config& config_;
    guest_group& guests_;
    worker& subject_;
};

} // namespace skep
