// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/relationship.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
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
        executor.execute([handler = std::move(handler_)]() mutable {
            asio::get_associated_cancellation_slot(handler).clear();
            std::move(handler)();
        });
    }

    asio::cancellation_slot cancellation() const noexcept override {
        return asio::get_associated_cancellation_slot(handler_);
    }

private:
    Handler handler_;
};

} // namespace detail

/// Suspends the calling coroutine, and hands it, suspended, to `begin`, which must not throw.
template <class Begin>
asio::awaitable<void> suspend(Begin begin) {
    auto initiate = []<class Handler>(Handler handler, Begin start) {
        start(std::make_unique<detail::suspended_handler<Handler>>(std::move(handler)));
    };
    return asio::async_initiate<const asio::use_awaitable_t<>, void()>(std::move(initiate),
                                                                       asio::use_awaitable, std::move(begin));
}

} // namespace skep
