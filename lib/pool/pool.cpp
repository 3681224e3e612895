// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/range_check.hpp"
#include "pool/context_guard.hpp"
#include "pool/pool_core.hpp"
#include "pool/unary_call.hpp"
#include "process/local_context.hpp"
#include "process/process_runtime.hpp"
#include <skep/pool.hpp>

#include <boost/asio/post.hpp>

namespace skep {

namespace {

using core_ptr = std::shared_ptr<pool_core>;
using unary_ptr = boost::intrusive_ptr<unary_call>;

runtime_factory processes() {
    return [](const pool_context& context, const pool_config& config, output_handler sink) {
        return make_process_runtime(context, config, std::move(sink));
    };
}

pool_config validated(pool_config config) {
    config.validate();
    return config;
}

/// Lets the caller of an operation cancel it: its slot is emitted on its own executor, the cancelling is done
/// on the strand.
template <class Cancel>
void forward_cancellation(asio::cancellation_slot slot, const core_ptr& core, Cancel cancel) {
    if (slot.is_connected()) {
        // Weak: the caller's signal may outlive the execution context, which the core must not.
        slot.assign([weak = std::weak_ptr(core), cancel](asio::cancellation_type type) {
            if (const auto core = weak.lock()) {
                asio::post(core->executor(), [core, cancel, type] { cancel(*core, type); });
            }
        });
    }
}

/// Waits for something that others may wait for too; cancelling ends the wait, not the thing.
template <class T, class Begin>
asio::awaitable<T> await_outcome(core_ptr core, Begin begin) {
    const auto mine = std::make_shared<waiter<T>>();
    auto start = [core = std::move(core), begin = std::move(begin),
                  mine](std::unique_ptr<suspended_caller> caller) {
        forward_cancellation(caller->cancellation(), core, [mine](pool_core& of, asio::cancellation_type) {
            mine->complete(of.cancelled(), {});
        });
        core->executor().execute([core, begin, mine, caller = std::move(caller)]() mutable {
            mine->attach(std::move(caller));
            begin(*core, mine);
        });
    };
    auto suspension = suspend(std::move(start));
    co_await std::move(suspension);
    co_return mine->take();
}

void encode(call& fresh, const limit_options& limits) {
    try {
        fresh.encode(limits);
    } catch (const error& refusal) {
        fresh.refusal = std::make_unique<error>(refusal);
    } catch (const std::exception& problem) { // out of memory
        error_info info;
        info.detail = problem.what();
        fresh.refusal = std::make_unique<error>(errc::invalid_request, std::move(info));
    }
}

/// Encodes off the strand, so that callers on several threads do it side by side, and a request that cannot be
/// sent is refused at once, however long the queue. The call owns its caller from the strand on, not before: there
/// the pool knows both, and can part them if the strand never runs again.
void begin_call(const core_ptr& core, const unary_ptr& mine, std::unique_ptr<suspended_caller> caller) {
    encode(*mine, core->limits());
    forward_cancellation(caller->cancellation(), core,
                         [mine](pool_core& of, asio::cancellation_type type) { of.cancel(*mine, type); });
    core->executor().execute([core, mine, caller = std::move(caller)]() mutable {
        mine->attach(std::move(caller));
        core->submit(*mine);
    });
}

asio::awaitable<reply> run_call(core_ptr core, unary_ptr mine) {
    auto start = [core = std::move(core), mine](std::unique_ptr<suspended_caller> caller) {
        begin_call(core, mine, std::move(caller));
    };
    auto suspension = suspend(std::move(start));
    co_await std::move(suspension);
    co_return mine->take();
}

/// A coroutine, so that what is wrong with the arguments comes from the wait like every other error.
asio::awaitable<reply> run_command(core_ptr core, std::string command, boost::json::value args) {
    request what(std::move(command), std::move(args));
    auto running = run_call(std::move(core), unary_ptr(new unary_call(std::move(what))));
    auto answer = co_await std::move(running);
    co_return answer;
}

using caller_ptr = worker_waiters::caller_ptr;

/// Has something done and waits until it is.
template <class Begin>
asio::awaitable<void> run_change(core_ptr core, Begin begin) {
    auto outcome = await_outcome<std::monostate>(std::move(core), std::move(begin));
    co_await std::move(outcome);
}

void check(const size_limits& limits) {
    range_check check;
    check.number("limits.min", limits.min, 1, 10'000);
    check.number("limits.max", limits.max, static_cast<long long>(limits.min), 10'000);
}

asio::awaitable<void> run_resize(core_ptr core, size_limits limits) {
    check(limits);
    auto change = run_change(
        std::move(core), [limits](pool_core& of, const caller_ptr& caller) { of.resize(limits, caller); });
    co_await std::move(change);
}

asio::awaitable<void> run_ready(core_ptr core, std::size_t count) {
    range_check check;
    check.number("ready(count)", count, 0, 10'000);
    auto change = run_change(std::move(core),
                             [count](pool_core& of, const caller_ptr& caller) { of.ready(count, caller); });
    co_await std::move(change);
}

asio::awaitable<pool_status> run_status(core_ptr core) {
    pool_status result;
    auto start = [core = std::move(core), &result](std::unique_ptr<suspended_caller> caller) {
        core->executor().execute([core, &result, caller = std::move(caller)] {
            result = core->status();
            caller->resume();
        });
    };
    auto suspension = suspend(std::move(start));
    co_await std::move(suspension);
    co_return result;
}

} // namespace

pool::pool(asio::any_io_executor executor, pool_config config)
    : pool(make_pool(std::make_shared<pool_core>(make_local_context(std::move(executor)),
                                                 validated(std::move(config)), processes()))) {}

pool make_pool(core_ptr core) {
    context_guard::enroll(core->executor().get_inner_executor(), core);
    return pool(std::move(core));
}

pool::~pool() {
    if (core_) {
        asio::post(core_->executor(), [core = core_] { core->abandon(); });
    }
}

pool::pool(pool&&) noexcept = default;

pool& pool::operator=(pool&& other) noexcept {
    std::swap(core_, other.core_);
    return *this;
}

asio::any_io_executor pool::get_executor() const noexcept {
    return core_->executor().get_inner_executor();
}

asio::awaitable<void> pool::start() {
    return run_change(core_, [](pool_core& of, const caller_ptr& caller) { of.start(caller); });
}

asio::awaitable<void> pool::ready(std::size_t count) {
    return run_ready(core_, count);
}

asio::awaitable<reply> pool::execute(request call_request) {
    return run_call(core_, unary_ptr(new unary_call(std::move(call_request))));
}

asio::awaitable<reply> pool::execute(std::string command, boost::json::value args) {
    return run_command(core_, std::move(command), std::move(args));
}

asio::awaitable<pool_status> pool::status() {
    return run_status(core_);
}

asio::awaitable<shutdown_report> pool::shutdown() {
    return await_outcome<shutdown_report>(
        core_, [](pool_core& of, const pool_core::shutdown_waiter& caller) { of.shutdown(caller); });
}

asio::awaitable<void> pool::suspend(worker_id which) {
    return run_change(core_, [which = std::move(which)](pool_core& of, const caller_ptr& caller) {
        of.suspend(which, caller);
    });
}

asio::awaitable<void> pool::suspend() {
    return run_change(core_, [](pool_core& of, const caller_ptr& caller) { of.suspend_all(caller); });
}

asio::awaitable<void> pool::resume(worker_id which) {
    return run_change(core_, [which = std::move(which)](pool_core& of, const caller_ptr& caller) {
        of.resume(which, caller);
    });
}

asio::awaitable<void> pool::resume() {
    return run_change(core_, [](pool_core& of, const caller_ptr& caller) { of.resume_all(caller); });
}

asio::awaitable<void> pool::restart(worker_id which) {
    return run_change(core_, [which = std::move(which)](pool_core& of, const caller_ptr& caller) {
        of.restart(which, caller);
    });
}

asio::awaitable<void> pool::rolling_restart() {
    return run_change(core_, [](pool_core& of, const caller_ptr& caller) { of.restart_all(caller); });
}

asio::awaitable<void> pool::resize(size_limits limits) {
    return run_resize(core_, limits);
}

} // namespace skep
