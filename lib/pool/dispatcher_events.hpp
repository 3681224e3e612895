// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "worker/worker.hpp"
#include <skep/error.hpp>

#include <string>

namespace skep {

/// What a dispatcher, and its lease_desk, ask of their pool.
class dispatcher_events {
public:
    /// The worker is still at a call that was given up, though cancel_grace is over.
    virtual void on_overdue(worker& at) = 0;

    /// A call on the worker was given up because it took too long.
    virtual void on_timeout(worker& at, const call& given_up) = 0;

    /// Acts upon what workers have told and nobody has seen to yet.
    virtual void settle() = 0;

    /// What has brought the pool into a state in which it refuses calls.
    virtual error_info cause_of_refusal() const = 0;

    /// Why there are fewer workers than there should be; empty if there are not.
    virtual std::string shortage() const = 0;

    /// Whether there will be more workers soon, or may be for the sake of calls that wait.
    virtual bool may_get_more_workers() const = 0;

    /// A call of the session is assigned to a worker, or the session is bound to it.
    virtual void on_session_used(const std::string& session, const worker& by) = 0;

    /// Callers have begun to wait.
    virtual void on_waiting() = 0;

protected:
    ~dispatcher_events() = default;
};

} // namespace skep
