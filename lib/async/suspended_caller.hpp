// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/execute_with_retry.hpp"

#include <boost/asio/any_io_executor.hpp>
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

/// A coroutine of the user's that waits, outside the strand, for something that happens on it, of which come `Results`; or
/// nobody. The co_spawn that runs it keeps its executor at work meanwhile. Destroying this destroys the coroutine.
template <class... Results>
class basic_suspended_caller {
public:
    using handler = typename asio::async_result<asio::use_awaitable_t<>, void(Results...)>::handler_type;

    basic_suspended_caller() noexcept = default;
    explicit basic_suspended_caller(handler&& completion) noexcept
        : handler_(std::move(completion)), waits_(true) {}
    basic_suspended_caller(basic_suspended_caller&& other) noexcept
        : handler_(std::move(other.handler_)),
          canceller_(std::move(other.canceller_)),
          waits_(std::exchange(other.waits_, false)) {}
    basic_suspended_caller& operator=(basic_suspended_caller&& other) noexcept {
        const basic_suspended_caller before(std::move(*this)); // with the coroutine may go what keeps this
        handler_.reset();                                      // Asio's handler has no assignment
        if (other.handler_) {
            handler_.emplace(std::move(*other.handler_));
        }
        canceller_ = std::move(other.canceller_);
        waits_ = std::exchange(other.waits_, false);
        return *this;
    }

    explicit operator bool() const noexcept { return waits_; }

    asio::any_io_executor executor() const noexcept { return asio::get_associated_executor(*handler_); }

    /// Through which it may be cancelled; it belongs to the caller's executor.
    asio::cancellation_slot cancellation() const noexcept {
        return asio::get_associated_cancellation_slot(*handler_);
    }

    /// Keeps alive what cancels it, for as long as it waits.
    void keep(std::shared_ptr<void> canceller) noexcept { canceller_ = std::move(canceller); }

    /// Lets it go on on its own executor, never from within this call. What it is given becomes its `Results` there. Where it
    /// was kept may be gone by then. Without memory for that, the coroutine is destroyed instead.
    template <class... Given>
    friend void resume(basic_suspended_caller&& caller, Given&&... arguments) noexcept {
        // The last thing that its turn on the strand does: the same thread may as well go on with it.
        const auto executor = asio::prefer(asio::require(caller.executor(), asio::execution::blocking.never),
                                           asio::execution::relationship.continuation);
        const auto canceller = std::move(caller.canceller_); // he is not to be cancelled any more
        auto go_on = [caller = std::move(caller), ... arguments = std::forward<Given>(arguments)]() mutable {
            if (caller) {
                caller.cancellation().clear();
                auto& handler = *caller.handler_;
                handler(static_cast<Results&&>(std::move(arguments))...);
            }
        };
        try {
            execute_with_retry(executor, std::move(go_on));
        } catch (const std::bad_alloc&) {} // the coroutine was destroyed
    }

private:
    std::optional<handler> handler_;
    std::shared_ptr<void> canceller_;
    bool waits_ = false; ///< false of one that was moved from
};

/// One that waits for nothing but its turn.
using suspended_caller = basic_suspended_caller<>;

/// Suspends the calling coroutine, and hands it, suspended, to `begin`, which must not throw. It keeps `owners` for as
/// long as it waits. The results are as Asio has them: of (std::exception_ptr, T) comes a T, or what the first holds is thrown.
template <class... Results, class Begin, class... Kept>
auto suspend(Begin begin, Kept... owners) {
    auto initiate = [](auto handler, Begin start, const Kept&...) {
        start(basic_suspended_caller<Results...>(std::move(handler)));
    };
    return asio::async_initiate<const asio::use_awaitable_t<>, void(Results...)>(
        std::move(initiate), asio::use_awaitable, std::move(begin), std::move(owners)...);
}

} // namespace skep
