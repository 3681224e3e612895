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

/// Queue of unread events for one subscriber. Thread safety: put() and the other functions may be called from
/// any thread; one reader at a time.
class event_mailbox final : public std::enable_shared_from_this<event_mailbox>, private context_bound {
public:
    explicit event_mailbox(std::size_t capacity) : capacity_(capacity) {}

    /// Enqueues an event. If the queue is full, drops and counts the event.
    void put(const event& new_event);

    /// Waits for the next event. Returns std::nullopt if the mailbox is empty, and is closed or has ended its
    /// waits.
    static asio::awaitable<std::optional<event>> take(std::shared_ptr<event_mailbox> self);

    /// Calls `handler` with each event on `executor`, one at a time; replaces take(). Discards exceptions of
    /// the handler.
    void deliver_to(asio::any_io_executor executor, std::function<void(const event&)> handler);

    /// Ends the waits for events: the reader's, and the work that keeps a listener's executor running.
    void end_waits() noexcept;

    /// Rejects later events. Queued events can be taken.
    void close() noexcept;

    /// Closes the mailbox, and discards the queued events.
    void abandon() noexcept {
        is_given_up_ = true;
        close();
    }

    bool is_closed() const noexcept { return is_closed_; }
    bool is_given_up() const noexcept { return is_given_up_; }
    std::uint64_t dropped() const noexcept { return dropped_; }

private:
    /// The recipient of deliver_to().
    struct listener {
        asio::any_io_executor executor;
        asio::any_io_executor work; ///< keeps the executor at work; empty once the waits have ended
        std::function<void(const event&)> handler;
        bool is_called = false; ///< deliver() is scheduled or runs
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
    std::recursive_mutex mutex_; ///< recursive: a reader that cannot be resumed ends, and destroys its stream
    std::deque<event> events_;
    suspended_caller reader_;            ///< the waiting reader
    std::shared_ptr<listener> listener_; ///< or the listener, until the mailbox is closed and empty
    std::atomic<bool> has_ended_waits_{false};
    const asio::execution_context* known_to_ = nullptr; ///< the reader's context, which reports its end
    std::atomic<std::uint64_t> dropped_{0};
    std::atomic<bool> is_closed_{false};
    std::atomic<bool> is_given_up_{false};
    bool was_cancelled_ = false; ///< result of the last wait, read after the resumption
};

} // namespace skep::detail
