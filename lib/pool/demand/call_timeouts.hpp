// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/timeout_detail.hpp"
#include "pool/demand/open_calls.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skep {

/// A call abandoned by a timeout, for the pool to act upon.
struct timed_out_call {
    std::shared_ptr<worker> assigned_worker;
    call_ptr abandoned_call;
};

/// Returns when a running call must be checked again.
time_point next_check(const call& running_call);

/// Ends calls whose time is over: in the queue, at a worker, or because a stream is quiet. Reports a worker
/// that does not end an abandoned call. On the pool's strand.
class call_timeouts {
public:
    call_timeouts(const pool_context& context, waiting_room& room, open_calls& open)
        : context_(context), room_(room), open_(open) {}

    /// The call's deadline has passed, or its next check is due.
    void on_due(call& due_call, const supply_outlook& supply);

    /// Takes the calls that have timed out so far, except calls that their worker cannot have begun.
    std::vector<timed_out_call> take_timed_out() noexcept { return std::exchange(timed_out_, {}); }

    /// The pool has failed: drops the calls.
    void clear() noexcept { timed_out_.clear(); }

private:
    void fail_waiting(call& waiting_call, const supply_outlook& supply);
    late_call facts_of(const call& due_call, std::string shortage) const;
    void time_out(call& running_call, error_info info);
    void check_quiet(call& stream);
    void check_overdue(call& abandoned_call);

    const pool_context& context_;
    waiting_room& room_;
    open_calls& open_;
    std::vector<timed_out_call> timed_out_;
};

} // namespace skep
