// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "pool/demand/placement.hpp"
#include "runtime/pool_context.hpp"

namespace skep {

/// Recalls calls that lie behind a call which takes long; see pipelining. One coroutine looks at the workers
/// about every millisecond, and sleeps while no call may have to be recalled. On the pool's strand.
class recall_watch {
public:
    recall_watch(const pool_context& context, const placement& places)
        : context_(context), places_(places), work_(context.executor), pause_(context.executor) {}

    /// A call was pipelined.
    void wake() { work_.open(); }

    /// Watches until cancelled.
    asio::awaitable<void> run();

private:
    bool recall_late_calls();

    const pool_context& context_;
    const placement& places_;
    latch work_;  ///< open while calls may have to be recalled
    latch pause_; ///< never opens
};

} // namespace skep
