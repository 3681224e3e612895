// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"

#include <boost/intrusive/list.hpp>

namespace skep {

/// A caller that waits for a coroutine of the pool.
class waiting_caller
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    /// Destroys the caller's continuation. Called when no coroutine will ever run again.
    virtual void forget() noexcept = 0;

protected:
    ~waiting_caller() = default;
};

/// The users' operations, and the callers that wait for them. On the pool's strand.
class user_waits {
public:
    explicit user_waits(const strand& executor)
        : changes_(executor, [](std::exception_ptr) {}), others_(executor, [](std::exception_ptr) {}) {}

    /// Changes of a running pool; end with the pool.
    task_group& changes() noexcept { return changes_; }

    /// Operations that end by themselves.
    task_group& others() noexcept { return others_; }

    void add(waiting_caller& caller) noexcept { callers_.push_back(caller); }

    /// Called when no coroutine will ever run again. A caller's coroutine may own the pool: both would keep
    /// each other alive.
    void drop_callers() noexcept {
        while (!callers_.empty()) {
            auto& next = callers_.front();
            callers_.pop_front();
            next.forget();
        }
    }

private:
    task_group changes_;
    task_group others_;
    boost::intrusive::list<waiting_caller, boost::intrusive::constant_time_size<false>> callers_;
};

} // namespace skep
