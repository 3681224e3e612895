// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/range_check.hpp"
#include "pool/call_operations.hpp"
#include "pool/lease_handle.hpp"
#include "pool/operation.hpp"
#include "pool/pool_core.hpp"
#include "process/local_context.hpp"
#include "process/process_runtime.hpp"
#include <skep/pool.hpp>

#include <boost/asio/post.hpp>

namespace skep {

namespace {

/// A coroutine without a result has one that says so.
asio::awaitable<std::monostate> done(asio::awaitable<void> task) {
    co_await std::move(task);
    co_return std::monostate();
}

/// Runs the coroutine `body(core)` on the strand of a pool that is running, and returns its result.
template <class T, class Body>
asio::awaitable<T> run_in_running(core_ptr core, Body body) {
    core->refuse_if_forked();
    const auto in_changes = [](pool_core& target) -> task_group& { return target.parts().waits.changes(); };
    auto checked = [body = std::move(body)](pool_core& target) {
        target.require_running();
        return body(target);
    };
    auto running = wait_on_strand<T>(std::move(core), in_changes, std::move(checked));
    T result = co_await std::move(running);
    co_return result;
}

/// A change of a pool that is running; `body(core)` is the coroutine that makes it.
template <class Body>
asio::awaitable<void> change(core_ptr core, Body body) {
    auto changing = run_in_running<std::monostate>(
        std::move(core), [body = std::move(body)](pool_core& target) { return done(body(target)); });
    co_await std::move(changing);
}

/// Something that can be waited for in every phase.
template <class T, class Body>
asio::awaitable<T> wait_for(core_ptr core, Body body) {
    const auto in_waits = [](pool_core& target) -> task_group& { return target.parts().waits.others(); };
    return wait_on_strand<T>(std::move(core), in_waits, std::move(body));
}

asio::awaitable<void> run_start(core_ptr core) {
    core->refuse_if_forked();
    auto starting = wait_for<std::monostate>(
        std::move(core), [](pool_core& target) { return done(target.starting().start()); });
    co_await std::move(starting);
}

asio::awaitable<void> run_resize(core_ptr core, size_limits limits) {
    check_ranges([limits](const range_check& check) {
        if (check.number("limits.min", limits.min, 1, 10'000)) {
            check.number("limits.max", limits.max, static_cast<long long>(limits.min), 10'000);
        }
    });
    auto resizing = change(std::move(core),
                           [limits](pool_core& target) { return target.parts().scaling.resize(limits); });
    co_await std::move(resizing);
}

asio::awaitable<worker_exit> run_ended(core_ptr core, worker_id id) {
    core->refuse_if_forked();
    auto waiting = wait_for<worker_exit>(
        std::move(core), [id = std::move(id)](pool_core& target) { return target.inspecting().ended(id); });
    worker_exit end = co_await std::move(waiting);
    co_return end;
}

asio::awaitable<void> run_ready(core_ptr core, std::size_t count) {
    check_ranges([count](const range_check& check) { check.number("ready(count)", count, 0, 10'000); });
    core->refuse_if_forked();
    auto waiting = wait_for<std::monostate>(
        std::move(core), [count](pool_core& target) { return done(target.starting().ready(count)); });
    co_await std::move(waiting);
}

/// What `act` returns of the pool, on its strand.
template <class Act, class Answer = std::invoke_result_t<const Act&, pool_core&>>
asio::awaitable<Answer> one_hop(core_ptr core, Act act) {
    Answer result{};
    std::optional<error> problem;
    auto start = [core = std::move(core), &act, &result, &problem](suspended_caller&& caller) {
        auto enter = [core, &act, &result, &problem, caller = std::move(caller)]() mutable {
            try {
                result = act(*core);
            } catch (...) {
                problem = core->failure_of(std::current_exception(), false);
            }
            resume(std::move(caller));
        };
        execute_with_retry(core->executor(), std::move(enter));
    };
    auto suspension = suspend(std::move(start));
    co_await std::move(suspension);
    if (problem) {
        throw *problem;
    }
    co_return result;
}

/// How large it is depends on the pool, and on who asks: without memory for it, that fails alone.
template <class Picture>
Picture picture_of(pool_core& pool, Picture (pool_parts::*look)()) {
    pool.parts().events.catch_up();
    try {
        return (pool.parts().*look)();
    } catch (const std::bad_alloc&) {
        throw error(pool.exhausted());
    }
}

asio::awaitable<void> run_bind(core_ptr core, std::string id, worker_id worker,
                               std::optional<affinity_mode> mode) {
    core->refuse_if_forked();
    auto bind = [id = std::move(id), worker = std::move(worker), mode](pool_core& target) {
        target.require_running();
        target.sessions().bind(id, worker, mode);
        return std::monostate();
    };
    auto binding = one_hop(std::move(core), std::move(bind));
    co_await std::move(binding);
}

} // namespace

pool::pool(asio::any_io_executor executor, pool_config config)
    : pool(make_process_pool(std::move(executor), std::move(config), {})) {}

pool make_process_pool(asio::any_io_executor executor, pool_config config, pool_membership of_manager) {
    config.validate();
    const auto make_runtime = [](const pool_context& context, const pool_config& valid, output_handler sink) {
        return make_process_runtime(context, valid, std::move(sink));
    };
    return make_pool(std::make_shared<pool_core>(make_local_context(std::move(executor)), std::move(config),
                                                 make_runtime, std::move(of_manager)));
}

pool make_pool(core_ptr core) {
    core->enroll();
    return pool(std::move(core));
}

pool::~pool() {
    if (core_) {
        asio::post(core_->executor(), [core = core_] { core->guard([&] { core->ending().abandon(); }); });
    }
}

pool::pool(pool&&) noexcept = default;

pool& pool::operator=(pool&& other) noexcept {
    std::swap(core_, other.core_);
    return *this;
}

const std::string& pool::name() const noexcept {
    return core_->config().name;
}

asio::any_io_executor pool::get_executor() const noexcept {
    return core_->executor().get_inner_executor();
}

asio::awaitable<void> pool::start() {
    return run_start(core_);
}

asio::awaitable<void> pool::ready(std::size_t count) {
    return run_ready(core_, count);
}

asio::awaitable<reply> pool::execute(request call_request) {
    return run_call(core_, unary_ptr(new unary_call(std::move(call_request))));
}

void pool::register_tool(std::string name, tool_handler handler) {
    core_->tools().add(std::move(name), std::move(handler));
}

event_bus& pool::events() noexcept {
    return core_->events();
}

asio::awaitable<reply_stream> pool::stream(request call) {
    return run_stream(core_, make_stream(*core_, std::move(call)));
}

asio::awaitable<lease> pool::checkout(checkout_options options, std::source_location location) {
    return lease_handle::check_out(core_, std::move(options), location);
}

asio::awaitable<pool_status> pool::status() {
    return one_hop(core_, [](pool_core& target) { return picture_of(target, &pool_parts::status); });
}

asio::awaitable<pool_metrics> pool::metrics() {
    return one_hop(core_, [](pool_core& target) { return picture_of(target, &pool_parts::metrics); });
}

asio::awaitable<bool> pool::forget_session(std::string id) {
    return one_hop(
        core_, [id = std::move(id)](pool_core& target) { return target.parts().calls.forget_session(id); });
}

asio::awaitable<std::optional<session_binding>> pool::session_worker(std::string id) {
    return one_hop(core_,
                   [id = std::move(id)](pool_core& target) { return target.sessions().binding_of(id); });
}

asio::awaitable<void> pool::bind_session(std::string id, worker_id worker,
                                         std::optional<affinity_mode> mode) {
    return run_bind(core_, std::move(id), std::move(worker), mode);
}

asio::awaitable<shutdown_report> pool::shutdown() {
    return wait_for<shutdown_report>(core_, [](pool_core& target) { return target.ending().shutdown(); });
}

asio::awaitable<probe_result> pool::probe(worker_id id) {
    return run_in_running<probe_result>(
        core_, [id = std::move(id)](pool_core& target) { return target.inspecting().probe(id); });
}

asio::awaitable<std::vector<probe_result>> pool::probe() {
    return run_in_running<std::vector<probe_result>>(
        core_, [](pool_core& target) { return target.inspecting().probe_all(); });
}

asio::awaitable<duration> pool::ping(worker_id id) {
    return run_in_running<duration>(
        core_, [id = std::move(id)](pool_core& target) { return target.inspecting().ping(id); });
}

asio::awaitable<worker_exit> pool::ended(worker_id id) {
    return run_ended(core_, std::move(id));
}

asio::awaitable<void> pool::suspend(worker_id id) {
    return change(core_,
                  [id = std::move(id)](pool_core& target) { return target.parts().suspensions.suspend(id); });
}

asio::awaitable<void> pool::suspend() {
    return change(core_, [](pool_core& target) { return target.parts().suspensions.suspend_all(); });
}

asio::awaitable<void> pool::resume(worker_id id) {
    return change(core_,
                  [id = std::move(id)](pool_core& target) { return target.parts().suspensions.resume(id); });
}

asio::awaitable<void> pool::resume() {
    return change(core_, [](pool_core& target) {
        target.parts().scaling.wake();
        return target.parts().suspensions.resume_all();
    });
}

asio::awaitable<void> pool::restart(worker_id id) {
    return change(core_, [id = std::move(id)](pool_core& target) {
        return target.parts().supervision.replacing().restart(id);
    });
}

asio::awaitable<void> pool::rolling_restart() {
    return change(core_,
                  [](pool_core& target) { return target.parts().supervision.replacing().restart_all(); });
}

asio::awaitable<void> pool::resize(size_limits limits) {
    return run_resize(core_, limits);
}

} // namespace skep
