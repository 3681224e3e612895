// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/context_guard.hpp"
#include "async/suspended_caller.hpp"
#include <skep/events.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace skep::detail {

namespace asio = boost::asio;

/// What has happened and was not read yet by one of those who want to know. From any thread; read by one at a time.
class event_mailbox final : public std::enable_shared_from_this<event_mailbox>, private context_bound {
public:
    explicit event_mailbox(std::size_t capacity) : capacity_(capacity) {}

    /// Dropped, and counted, if there is no place for it.
    void put(const event& new_event);

    /// None once it is closed, or has ended its waits, and is empty.
    static asio::awaitable<std::optional<event>> take(std::shared_ptr<event_mailbox> self);

    /// Has `handler` called with each event on `executor`, one at a time, instead of take(). What it throws is dropped.
    void deliver_to(asio::any_io_executor executor, std::function<void(const event&)> handler);

    /// Nobody waits for events any more: neither a reader, nor a listener's executor.
    void end_waits() noexcept;

    /// Nothing more comes. What is there can be taken.
    void close() noexcept;

    /// The same, and nobody wants what is there.
    void abandon() noexcept {
        is_given_up_ = true;
        close();
    }

    bool is_closed() const noexcept { return is_closed_; }
    bool is_given_up() const noexcept { return is_given_up_; }
    std::uint64_t dropped() const noexcept { return dropped_; }

private:
    /// Whose function is called.
    struct listener {
        asio::any_io_executor executor;
        asio::any_io_executor work; ///< keeps that at work; empty once the waits have ended
        std::function<void(const event&)> handler;
        bool is_called = false; ///< or about to be
    };

    void call_listener() noexcept;
    void deliver() noexcept;
    bool deliver_one() noexcept;
    void enroll(const asio::any_io_executor& executor);
    std::optional<event> take_first();
    void await_news(suspended_caller&& caller) noexcept;
    void cancel_wait() noexcept;
    void end_now(const asio::execution_context& context) noexcept override;
    static void wake(suspended_caller caller) noexcept;

    const std::size_t capacity_;
    std::recursive_mutex mutex_; ///< a reader that cannot be resumed ends, and with it its stream
    std::deque<event> events_;
    suspended_caller reader_;            ///< who waits
    std::shared_ptr<listener> listener_; ///< or who is called, until this is closed and empty
    std::atomic<bool> has_ended_waits_{false};
    const asio::execution_context* known_to_ = nullptr; ///< the reader's, whose end it would learn of
    std::atomic<std::uint64_t> dropped_{0};
    std::atomic<bool> is_closed_{false};
    std::atomic<bool> is_given_up_{false};
    bool was_cancelled_ = false; ///< the last wait; for the reader, once it goes on
};

} // namespace skep::detail
