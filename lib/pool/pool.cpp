// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/context_guard.hpp"
#include "pool/pool_core.hpp"
#include "process/process_runtime.hpp"
#include <skep/pool.hpp>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

namespace skep {

namespace {

using core_ptr = std::shared_ptr<pool_core>;

runtime_factory processes() {
    return [](const strand& executor, const pool_config& config, output_handler sink) {
        return make_process_runtime(executor, config, std::move(sink));
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
template <class T>
asio::awaitable<T> await_outcome(core_ptr core, void (pool_core::*begin)(std::shared_ptr<waiter<T>>)) {
    auto start = [core, begin](std::unique_ptr<completion<T>> caller) {
        const auto mine = std::make_shared<waiter<T>>(std::move(caller));
        forward_cancellation(mine->cancellation(), core, [mine](pool_core& of, asio::cancellation_type) {
            mine->complete(of.cancelled(), {});
        });
        asio::dispatch(core->executor(), [core, begin, mine] { ((*core).*begin)(mine); });
    };
    return await_completion<T>(std::move(start));
}

} // namespace

pool::pool(asio::any_io_executor executor, pool_config config)
    : pool(make_pool(
          std::make_shared<pool_core>(std::move(executor), validated(std::move(config)), processes()))) {}

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

asio::awaitable<void> pool::start() {
    co_await await_outcome<std::monostate>(core_, &pool_core::start);
}

asio::awaitable<reply> pool::execute(request call_request) {
    const auto core = core_;
    auto start = [core, what = std::move(call_request)](std::unique_ptr<completion<reply>> caller) mutable {
        const auto slot = caller->cancellation();
        const call_ptr mine(new call(std::move(what), std::move(caller)));
        forward_cancellation(slot, core,
                             [mine](pool_core& of, asio::cancellation_type type) { of.cancel(*mine, type); });
        asio::dispatch(core->executor(), [core, mine] { core->submit(mine); });
    };
    return await_completion<reply>(std::move(start));
}

asio::awaitable<reply> pool::execute(std::string command, boost::json::value args) {
    return execute(request(std::move(command), std::move(args)));
}

asio::awaitable<pool_status> pool::status() {
    const auto core = core_;
    auto start = [core](std::unique_ptr<completion<pool_status>> caller) {
        asio::dispatch(core->executor(),
                       [core, caller = std::move(caller)] { caller->complete(nullptr, core->status()); });
    };
    return await_completion<pool_status>(std::move(start));
}

asio::awaitable<shutdown_report> pool::shutdown() {
    return await_outcome<shutdown_report>(core_, &pool_core::shutdown);
}

} // namespace skep
