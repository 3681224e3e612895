// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/suspended_caller.hpp"
#include "pool/pool_core.hpp"

#include <boost/asio/post.hpp>

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <variant>

namespace skep {

using core_ptr = std::shared_ptr<pool_core>;

/// Lets the caller of an operation cancel it: its slot is emitted on its own executor, the cancelling is done
/// on the strand. Without memory for that he cannot.
template <class... Results, class Cancel>
void forward_cancellation(basic_suspended_caller<Results...>& caller, const core_ptr& core, Cancel cancel) {
    auto slot = caller.cancellation();
    if (!slot.is_connected()) {
        return;
    }
    try {
        const auto canceller = std::make_shared<Cancel>(std::move(cancel));
        // Weak: the caller's signal may outlive the execution context, which neither the core nor a call must.
        slot.assign(
            [core = std::weak_ptr(core), canceller = std::weak_ptr(canceller)](asio::cancellation_type type) {
                auto pool = core.lock();
                auto still_waiting = canceller.lock();
                if (pool && still_waiting) {
                    const auto& executor = pool->executor();
                    auto end_wait = [pool = std::move(pool), still_waiting = std::move(still_waiting), type] {
                        pool->guard([&] { (*still_waiting)(*pool, type); });
                    };
                    asio::post(executor, std::move(end_wait));
                }
            });
        caller.keep(canceller);
    } catch (const std::bad_alloc&) {}
}

/// Takes a suspended caller to the strand, where `enter(core, caller)` begins what it waits for, and `cancel(core, type)`
/// ends it. The strand owns the caller from there on, not before: there the pool knows what waits, and can part the two
/// if the strand never runs again.
template <class... Results, class Cancel, class Enter>
void enter_strand(const core_ptr& core, basic_suspended_caller<Results...>&& caller, Cancel cancel,
                  Enter enter) {
    forward_cancellation(caller, core, std::move(cancel));
    auto arrive = [core = core, enter = std::move(enter), caller = std::move(caller)]() mutable {
        core->guard([&] { enter(*core, std::move(caller)); });
    };
    execute_with_retry(core->executor(), std::move(arrive));
}

/// What a user waits for, done by a coroutine on the pool's strand. Its outcome is the caller's from resume() on.
template <class T>
class operation final : public waiting_caller {
public:
    /// Begins it: `body(core)` is the coroutine. On the strand.
    template <class Body>
    void begin(const std::shared_ptr<operation>& self, const core_ptr& core, task_group& tasks, Body body,
               suspended_caller&& caller) {
        caller_ = std::move(caller);
        core->parts().waits.add(*this);
        try {
            task_ = tasks.spawn(core, run(self, core, std::move(body)));
        } catch (...) {
            failure_ = core->exhausted();
            complete();
            return;
        }
        if (cancelled_) {
            task_.cancel();
        }
    }

    /// The caller no longer waits. On the strand.
    void cancel() {
        cancelled_ = true;
        task_.cancel();
    }

    void forget() noexcept override { caller_ = {}; }

    /// For the caller, after it has been resumed.
    T result() {
        if (failure_) {
            throw *failure_;
        }
        return std::move(outcome_);
    }

private:
    template <class Body>
    static asio::awaitable<void> run(std::shared_ptr<operation> self, core_ptr core, Body body) {
        try {
            auto running = body(*core);
            self->outcome_ = co_await std::move(running);
        } catch (...) {
            self->failure_ = core->failure_of(std::current_exception(), self->cancelled_);
        }
        self->complete();
    }

    /// Out of the core's list first: what the caller destroys, he destroys on his own thread.
    void complete() {
        unlink();
        if (caller_) { // else it was done at once, and what came after that has failed
            resume(std::move(caller_));
        }
    }

    suspended_caller caller_;
    task_group::task_handle task_;
    bool cancelled_ = false;
    std::optional<error> failure_; ///< each caller's own copy, which it may let go of on its own thread
    T outcome_{};
};

/// Waits for `body(core)`, a coroutine that runs on the strand in the group that `tasks(core)` is. Cancelling (all
/// types) ends the wait with errc::cancelled.
template <class T, class Tasks, class Body>
asio::awaitable<T> wait_on_strand(core_ptr core, Tasks tasks, Body body) {
    const auto mine = std::make_shared<operation<T>>();
    auto start = [core = std::move(core), tasks, body = std::move(body), mine](suspended_caller&& caller) {
        forward_cancellation(caller, core, [mine](pool_core&, asio::cancellation_type) { mine->cancel(); });
        auto begin = [core, tasks, body, mine, caller = std::move(caller)]() mutable {
            mine->begin(mine, core, tasks(*core), std::move(body), std::move(caller));
        };
        execute_with_retry(core->executor(), std::move(begin));
    };
    auto suspension = suspend(std::move(start));
    co_await std::move(suspension);
    co_return mine->result();
}

} // namespace skep
