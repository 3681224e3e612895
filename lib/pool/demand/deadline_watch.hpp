// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "call/claim.hpp"
#include "policy/deadline_heap.hpp"
#include "runtime/pool_context.hpp"
#include "worker/worker_event.hpp"

namespace skep {

/// The deadlines of all claims of a pool, served by one coroutine. On the pool's strand.
class deadline_watch {
public:
    explicit deadline_watch(const pool_context& context) : context_(context), moved_(context.executor) {}

    /// Notifies `watched_claim` at `due_time`, not earlier; never if that is time_point::max(). The claim
    /// must stay alive until then or until removed.
    void set(claim& watched_claim, time_point due_time);

    void clear() noexcept { heap_.clear(); }
    void remove(claim& watched_claim) noexcept { heap_.remove(watched_claim); }

    /// Waits until a claim may be due. Yields first.
    asio::awaitable<void> wait();

    /// Notifies due claims: a turn's worth, or until an event is pending, because events come first.
    void notify_due(const supply_outlook& supply, const event_queue& events);

private:
    const pool_context& context_;
    deadline_heap heap_;
    latch moved_;
    time_point armed_ = time_point::max(); ///< time of the next check
};

} // namespace skep
