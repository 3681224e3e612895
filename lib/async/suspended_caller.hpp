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

#include <memory>
#include <optional>
#include <utility>

namespace skep {

namespace asio = boost::asio;

/// A coroutine of the user's that waits, outside the strand, for something that happens on it; or nobody. The co_spawn
/// that runs it keeps its executor at work meanwhile. Destroying this destroys the coroutine.
class suspended_caller {
public:
    using handler = asio::async_result<asio::use_awaitable_t<>, void()>::handler_type;

    suspended_caller() noexcept = default;
    explicit suspended_caller(handler&& waiting) noexcept : handler_(std::move(waiting)), waits_(true) {}
    suspended_caller(suspended_caller&& other) noexcept
        : handler_(std::move(other.handler_)),
          canceller_(std::move(other.canceller_)),
          waits_(std::exchange(other.waits_, false)) {}
    suspended_caller& operator=(suspended_caller&& other) noexcept {
        const suspended_caller before(std::move(*this)); // with the coroutine may go what keeps this
        handler_.reset();                                // Asio's handler has no assignment
        if (other.handler_) {
            handler_.emplace(std::move(*other.handler_));
        }
        canceller_ = std::move(other.canceller_);
        waits_ = std::exchange(other.waits_, false);
        return *this;
    }

    explicit operator bool() const noexcept { return waits_; }

    /// Through which it may be cancelled; it belongs to the caller's executor.
    asio::cancellation_slot cancellation() const noexcept {
        return asio::get_associated_cancellation_slot(*handler_);
    }

    /// Keeps alive what cancels it, for as long as it waits.
    void keep(std::shared_ptr<void> canceller) noexcept { canceller_ = std::move(canceller); }

    /// Lets it go on on its own executor, never from within this call. By value: where it was kept may be gone by then.
    friend void resume(suspended_caller caller) {
        // The last thing that its turn on the strand does: the same thread may as well go on with it.
        const auto executor = asio::prefer(
            asio::require(asio::get_associated_executor(*caller.handler_), asio::execution::blocking.never),
            asio::execution::relationship.continuation);
        const auto canceller = std::move(caller.canceller_); // he is not to be cancelled any more
        auto go_on = [caller = std::move(caller)]() mutable {
            if (caller) {
                caller.cancellation().clear();
                auto& handler = *caller.handler_;
                handler();
            }
        };
        execute_surely(executor, std::move(go_on));
    }

private:
    std::optional<handler> handler_;
    std::shared_ptr<void> canceller_;
    bool waits_ = false; ///< false of one that was moved from
};

/// Suspends the calling coroutine, and hands it, suspended, to `begin`, which must not throw.
template <class Begin>
asio::awaitable<void> suspend(Begin begin) {
    auto initiate = [](auto handler, Begin start) { start(suspended_caller(std::move(handler))); };
    return asio::async_initiate<const asio::use_awaitable_t<>, void()>(std::move(initiate),
                                                                       asio::use_awaitable, std::move(begin));
}

} // namespace skep
