// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/pool_core.hpp"
#include <skep/completion.hpp>
#include <skep/execute_with_retry.hpp>

#include <boost/asio/post.hpp>

#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace skep {

using core_ptr = std::shared_ptr<pool_core>;

/// Fails an operation that must not begin: in a forked process, or if `check()` throws. Returns true if so.
/// Off the strand.
template <class T, class Check>
bool is_refused(completion<T>& caller, const pool_core& core, Check check) noexcept {
    try {
        core.refuse_if_forked();
        check();
        return false;
    } catch (const std::bad_alloc&) {
        caller.fail(core.exhausted());
    } catch (...) {
        caller.fail(lazy_error(std::current_exception()));
    }
    return true;
}
template <class T>
bool is_refused(completion<T>& caller, const pool_core& core) noexcept {
    return is_refused(caller, core, [] {});
}

/// Fails an operation of any phase in a forked copy that lacks the strand's own thread. Returns true if so.
/// Off the strand.
template <class T>
bool is_unreachable(completion<T>& caller, const pool_core& core) noexcept {
    return core.lacks_thread() && is_refused(caller, core);
}

/// Runs `function()` on the strand, soon. A forked copy that lacks the strand's own thread drops it.
/// Throws std::bad_alloc.
template <class Function>
void post_to_strand(core_ptr core, Function function) {
    if (!core->lacks_thread()) {
        const auto& executor = core->executor();
        asio::post(executor, [core = std::move(core), function = std::move(function)]() mutable {
            core->guard(function);
        });
    }
}

/// Lets the caller cancel an operation. The caller's slot is emitted on its own executor; `cancel` runs on
/// the strand. Without memory, the caller cannot cancel.
template <class T, class Cancel>
void forward_cancellation(completion<T>& caller, const core_ptr& core, Cancel cancel) {
    auto slot = caller.get_cancellation_slot();
    if (!slot.is_connected()) {
        return;
    }
    try {
        const auto canceller = std::make_shared<Cancel>(std::move(cancel));
        // Weak: the caller's signal may outlive the execution context; the core and a call must not.
        slot.assign(
            [core = std::weak_ptr(core), canceller = std::weak_ptr(canceller)](asio::cancellation_type type) {
                auto pool = core.lock();
                auto still_waiting = canceller.lock();
                if (pool && still_waiting) {
                    auto& target = *pool; // kept by the posted function
                    post_to_strand(std::move(pool), [&target, still_waiting = std::move(still_waiting),
                                                     type] { (*still_waiting)(target, type); });
                }
            });
        caller.keep(canceller);
    } catch (const std::bad_alloc&) {}
}

/// Moves a caller to the strand. There `enter(core, caller)` begins the operation, and `cancel(core, type)`
/// ends it.
/// The strand owns the caller from then on, not earlier: there the pool knows its waiting callers, and can
/// drop the caller if the strand never runs again.
template <class T, class Cancel, class Enter>
void enter_strand(const core_ptr& core, completion<T>&& caller, Cancel cancel, Enter enter) {
    forward_cancellation(caller, core, std::move(cancel));
    auto arrive = [core = core, enter = std::move(enter), caller = std::move(caller)]() mutable {
        core->guard([&] { enter(*core, std::move(caller)); });
    };
    execute_with_retry(core->executor(), std::move(arrive));
}

/// An operation of a user, run by a coroutine on the pool's strand.
template <class T>
class operation final : public waiting_caller {
public:
    /// Begins the operation: `body(core)` is its coroutine. On the strand.
    template <class Body>
    void begin(const std::shared_ptr<operation>& self, const core_ptr& core, task_group& tasks, Body body,
               completion<T>&& caller) {
        caller_ = std::move(caller);
        core->parts().waits.add(*this);
        try {
            task_ = tasks.spawn(core, run(self, core, std::move(body)));
        } catch (...) {
            end(lazy_error(core->exhausted()), {});
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

private:
    using outcome = detail::value_of<T>;

    template <class Body>
    static asio::awaitable<void> run(std::shared_ptr<operation> self, core_ptr core, Body body) {
        outcome result{};
        lazy_error failure;
        try {
            auto running = body(*core);
            if constexpr (std::is_void_v<T>) {
                co_await std::move(running);
            } else {
                result = co_await std::move(running);
            }
        } catch (...) {
            failure = lazy_error(core->failure_of(std::current_exception(), self->cancelled_));
        }
        self->end(std::move(failure), std::move(result));
    }

    /// Leaves the core's list first: the caller destroys its own objects on its own thread.
    void end(lazy_error&& failure, outcome&& result) {
        unlink();
        caller_.end(std::move(failure), std::move(result)); // empty if a failure follows the end
    }

    completion<T> caller_;
    task_group::task_handle task_;
    bool cancelled_ = false;
};

/// Waits for `body(core)`, a coroutine that runs on the strand in the group `tasks(core)`. Cancellation (all
/// types) ends the wait with errc::cancelled.
template <class T, class Tasks, class Body>
void wait_on_strand(const core_ptr& core, completion<T>&& caller, Tasks tasks, Body body) {
    std::shared_ptr<operation<T>> mine;
    try {
        mine = std::make_shared<operation<T>>();
    } catch (const std::bad_alloc&) {
        caller.fail(core->exhausted());
        return;
    }
    enter_strand(
        core, std::move(caller), [mine](pool_core&, asio::cancellation_type) { mine->cancel(); },
        [core, mine, tasks, body = std::move(body)](pool_core& target, completion<T>&& caller) mutable {
            mine->begin(mine, core, tasks(target), std::move(body), std::move(caller));
        });
}

} // namespace skep
