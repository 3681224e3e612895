// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/execute_surely.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/relationship.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace skep {

namespace asio = boost::asio;

/// A coroutine of the user's that waits, outside the strand, for something that happens on it. The co_spawn that
/// runs it keeps its executor at work meanwhile. Destroying this destroys the coroutine.
class suspended_caller {
public:
    virtual ~suspended_caller() = default;

    /// Lets it go on on its own executor, never from within this call. To be called at most once.
    virtual void resume() = 0;

    /// Through which it may be cancelled; it belongs to the caller's executor.
    virtual asio::cancellation_slot cancellation() const noexcept = 0;

    /// Keeps alive what cancels it, for as long as it waits.
    void keep(std::shared_ptr<void> canceller) noexcept { canceller_ = std::move(canceller); }

private:
    std::shared_ptr<void> canceller_;
};

namespace detail {

template <class Handler>
class suspended_handler final : public suspended_caller {
public:
    explicit suspended_handler(Handler handler) : handler_(std::move(handler)) {}

    void resume() override {
        // The last thing that its turn on the strand does: the same thread may as well go on with it.
        const auto executor = asio::prefer(
            asio::require(asio::get_associated_executor(handler_), asio::execution::blocking.never),
            asio::execution::relationship.continuation);
        auto go_on = [handler = std::move(handler_)]() mutable {
            asio::get_associated_cancellation_slot(handler).clear();
            std::move(handler)();
        };
        execute_surely(executor, std::move(go_on));
    }

    asio::cancellation_slot cancellation() const noexcept override {
        return asio::get_associated_cancellation_slot(handler_);
    }

private:
    Handler handler_;
};

/// What `new T` takes.
template <class T>
struct memory_for {
    static void* operator new(std::size_t) { return ::operator new(sizeof(T)); }
    static void operator delete(void* memory) { ::operator delete(memory, sizeof(T)); }

    alignas(T) std::byte bytes[sizeof(T)];
};

} // namespace detail

/// Suspends the calling coroutine, and hands it, suspended, to `begin`, which must not throw. The memory for that is
/// taken before: there is no way back from an exception of what suspends it.
template <class Begin>
asio::awaitable<void> suspend(Begin begin) {
    using token = asio::use_awaitable_t<>;
    using suspended = detail::suspended_handler<typename asio::async_result<token, void()>::handler_type>;
    auto initiate = [](auto handler, Begin start, std::unique_ptr<detail::memory_for<suspended>> memory) {
        start(std::unique_ptr<suspended_caller>(new (memory.release()) suspended(std::move(handler))));
    };
    return asio::async_initiate<const token, void()>(
        std::move(initiate), asio::use_awaitable, std::move(begin),
        std::make_unique_for_overwrite<detail::memory_for<suspended>>());
}

} // namespace skep
