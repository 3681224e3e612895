// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/range_check.hpp"
#include "pool/call_operations.hpp"
#include "pool/delay_log.hpp"
#include "pool/operation.hpp"
#include <skep/pool_operations.hpp>

#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace skep {

namespace {

task_group& changes_of(pool_core& core) {
    return core.parts().waits.changes();
}

task_group& others_of(pool_core& core) {
    return core.parts().waits.others();
}

/// Runs the coroutine `body(core)` on the strand of a running pool, and completes the caller with its result.
template <class T, class Body>
void run_in_running(const core_ptr& core, completion<T>&& caller, Body body) {
    if (is_refused(caller, *core)) {
        return;
    }
    auto checked = [body = std::move(body)](pool_core& target) mutable {
        target.require_running();
        return body(target);
    };
    wait_on_strand(core, std::move(caller), changes_of, std::move(checked));
}

/// As run_in_running(). Logs the workers with `is_awaited(parts, worker)` while the coroutine takes long.
template <class IsAwaited, class Body>
void run_with_delay_log(const core_ptr& core, completion<void>&& caller, const char* operation,
                        IsAwaited is_awaited, Body body) {
    auto logged = [operation, is_awaited, body = std::move(body)](pool_core& target) mutable {
        auto& parts = target.parts();
        auto describe = [&parts, is_awaited] {
            return describe_awaited(parts, [&](const worker& each) { return is_awaited(parts, each); });
        };
        return log_delays(parts, operation, std::move(describe), body(target));
    };
    run_in_running(core, std::move(caller), std::move(logged));
}

bool is_being_drained(const pool_parts&, const worker& one) noexcept {
    return one.life().readiness().has(obstacle::suspended) && one.life().state() != worker_state::suspended;
}

/// Returns true if the worker is due for a restart, on its way up or leaving.
bool is_being_replaced(const pool_parts& parts, const worker& one) noexcept {
    return !one.life().is_in_service() || !parts.workers.slots()[one.id().slot].restarts.empty();
}

/// The present files of the program are loaded before the first worker leaves.
asio::awaitable<void> renew_all(pool_parts& parts) {
    try {
        co_await parts.starter->renew();
    } catch (const error& problem) {
        throw error(errc::restart_failed, problem.info());
    }
    co_await parts.supervision.replacing().restart_all();
}

/// Runs the coroutine `body(core)` in any phase of the pool.
template <class T, class Body>
void wait_for(const core_ptr& core, completion<T>&& caller, Body body) {
    wait_on_strand(core, std::move(caller), others_of, std::move(body));
}

/// Completes the caller with the result of `act(core)`, called on the strand.
template <class T, class Act>
void hop(const core_ptr& core, completion<T>&& caller, Act act) {
    if (is_unreachable(caller, *core)) {
        return;
    }
    auto enter = [core, act = std::move(act), caller = std::move(caller)]() mutable {
        detail::value_of<T> result{};
        try {
            if constexpr (std::is_void_v<T>) {
                act(*core);
            } else {
                result = act(*core);
            }
        } catch (...) {
            caller.fail(core->failure_of(std::current_exception(), false));
            return;
        }
        caller.complete(std::move(result));
    };
    execute_with_retry(core->executor(), std::move(enter));
}

/// Returns a picture of the pool. Its size depends on the pool and on the request: without memory, only this
/// operation fails.
template <class Picture>
Picture picture_of(pool_core& pool, Picture (pool_parts::*look)()) {
    pool.parts().events.catch_up();
    try {
        return (pool.parts().*look)();
    } catch (const std::bad_alloc&) {
        throw error(pool.exhausted());
    }
}

} // namespace

namespace detail::operations {

asio::any_io_executor executor_of(const core_ptr& core) noexcept {
    return core->user_executor();
}

void start(const core_ptr& core, completion<void>&& caller) {
    if (!is_refused(caller, *core)) {
        wait_for(core, std::move(caller), [](pool_core& target) { return target.starting().start(); });
    }
}

void ready(const core_ptr& core, completion<void>&& caller, std::size_t count) {
    const auto check = [count] {
        check_ranges([count](const range_check& range) { range.number("ready(count)", count, 0, 10'000); });
    };
    if (!is_refused(caller, *core, check)) {
        wait_for(core, std::move(caller),
                 [count](pool_core& target) { return target.starting().ready(count); });
    }
}

void forget_session(const core_ptr& core, completion<bool>&& caller, std::string&& id) {
    hop(core, std::move(caller),
        [id = std::move(id)](pool_core& target) { return target.parts().calls.forget_session(id); });
}

void session_worker(const core_ptr& core, completion<std::optional<session_binding>>&& caller,
                    std::string&& id) {
    hop(core, std::move(caller),
        [id = std::move(id)](pool_core& target) { return target.sessions().binding_of(id); });
}

void bind_session(const core_ptr& core, completion<void>&& caller, std::string&& id, worker_id&& worker,
                  std::optional<affinity_mode> mode) {
    if (is_refused(caller, *core)) {
        return;
    }
    hop(core, std::move(caller), [id = std::move(id), worker = std::move(worker), mode](pool_core& target) {
        target.require_running();
        target.sessions().bind(id, worker, mode);
    });
}

void status(const core_ptr& core, completion<pool_status>&& caller) {
    hop(core, std::move(caller), [](pool_core& target) { return picture_of(target, &pool_parts::status); });
}

void metrics(const core_ptr& core, completion<pool_metrics>&& caller) {
    hop(core, std::move(caller), [](pool_core& target) { return picture_of(target, &pool_parts::metrics); });
}

void suspend(const core_ptr& core, completion<void>&& caller, worker_id&& id) {
    run_with_delay_log(
        core, std::move(caller), "suspend",
        [id](const pool_parts& parts, const worker& each) {
            return each.id() == id && is_being_drained(parts, each);
        },
        [id](pool_core& target) { return target.parts().suspensions.suspend(id); });
}

void suspend_all(const core_ptr& core, completion<void>&& caller) {
    run_with_delay_log(core, std::move(caller), "suspend", is_being_drained,
                       [](pool_core& target) { return target.parts().suspensions.suspend_all(); });
}

void resume(const core_ptr& core, completion<void>&& caller, worker_id&& id) {
    run_in_running(core, std::move(caller),
                   [id = std::move(id)](pool_core& target) { return target.parts().suspensions.resume(id); });
}

void resume_all(const core_ptr& core, completion<void>&& caller) {
    run_in_running(core, std::move(caller), [](pool_core& target) {
        target.parts().scaling.wake();
        return target.parts().suspensions.resume_all();
    });
}

void probe(const core_ptr& core, completion<probe_result>&& caller, worker_id&& id) {
    run_in_running(core, std::move(caller),
                   [id = std::move(id)](pool_core& target) { return target.inspecting().probe(id); });
}

void probe_all(const core_ptr& core, completion<std::vector<probe_result>>&& caller) {
    run_in_running(core, std::move(caller),
                   [](pool_core& target) { return target.inspecting().probe_all(); });
}

void ping(const core_ptr& core, completion<duration>&& caller, worker_id&& id) {
    run_in_running(core, std::move(caller),
                   [id = std::move(id)](pool_core& target) { return target.inspecting().ping(id); });
}

void ended(const core_ptr& core, completion<worker_exit>&& caller, worker_id&& id) {
    if (!is_refused(caller, *core)) {
        wait_for(core, std::move(caller),
                 [id = std::move(id)](pool_core& target) { return target.inspecting().ended(id); });
    }
}

void stacks(const core_ptr& core, completion<std::string>&& caller, worker_id&& id) {
    if (!is_refused(caller, *core)) {
        wait_for(core, std::move(caller),
                 [id = std::move(id)](pool_core& target) { return target.inspecting().stacks(id); });
    }
}

void restart(const core_ptr& core, completion<void>&& caller, worker_id&& id) {
    run_with_delay_log(
        core, std::move(caller), "restart",
        [slot = id.slot](const pool_parts& parts, const worker& each) {
            return each.id().slot == slot && is_being_replaced(parts, each);
        },
        [id = std::move(id)](pool_core& target) {
            return target.parts().supervision.replacing().restart(id);
        });
}

void restart_all(const core_ptr& core, completion<void>&& caller) {
    run_with_delay_log(core, std::move(caller), "rolling_restart", is_being_replaced,
                       [](pool_core& target) { return renew_all(target.parts()); });
}

void resize(const core_ptr& core, completion<void>&& caller, size_limits limits) {
    const auto check = [limits] {
        check_ranges([limits](const range_check& range) {
            if (range.number("limits.min", limits.min, 1, 10'000)) {
                range.number("limits.max", limits.max, static_cast<long long>(limits.min), 10'000);
            }
        });
    };
    if (!is_refused(caller, *core, check)) {
        run_in_running(core, std::move(caller),
                       [limits](pool_core& target) { return target.parts().scaling.resize(limits); });
    }
}

void shut_down(const core_ptr& core, completion<shutdown_report>&& caller) {
    if (!is_unreachable(caller, *core)) {
        wait_for(core, std::move(caller), [](pool_core& target) { return target.ending().shutdown(); });
    }
}

} // namespace detail::operations

} // namespace skep
