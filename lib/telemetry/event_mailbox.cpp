// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "telemetry/event_mailbox.hpp"

#include <skep/error.hpp>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/this_coro.hpp>

#include <utility>

namespace skep::detail {

/// Under the lock, here and below, so that a context which ends meanwhile waits for that: see end_now().
void event_mailbox::put(const event& what) {
    const std::lock_guard lock(mutex_);
    if (events_.size() == capacity_) {
        ++dropped_;
        return;
    }
    try {
        events_.push_back(what);
    } catch (const std::bad_alloc&) {
        ++dropped_;
        return;
    }
    wake(std::move(reader_));
}

asio::awaitable<std::optional<event>> event_mailbox::take(std::shared_ptr<event_mailbox> self) {
    const auto executor = co_await asio::this_coro::executor;
    self->enroll(executor);
    for (;;) {
        const auto cancellation = co_await asio::this_coro::cancellation_state;
        const bool was_cancelled = std::exchange(self->was_cancelled_, false);
        if (was_cancelled || cancellation.cancelled() != asio::cancellation_type::none) {
            throw error(errc::cancelled, {});
        }
        const bool is_last_look = self->is_closed_;
        auto first = self->take_first();
        if (first || is_last_look) {
            co_return first;
        }
        auto waiting =
            suspend([box = self.get()](suspended_caller&& who) { box->await_news(std::move(who)); });
        co_await std::move(waiting);
    }
}

/// A context that is destroyed knows nothing of a wait here.
void event_mailbox::enroll(const asio::any_io_executor& executor) {
    const auto& context = asio::query(executor, asio::execution::context);
    if (known_to_ == &context) { // nobody else changes it while it is that of the reader
        return;
    }
    context_guard::enroll(executor, std::shared_ptr<context_bound>(shared_from_this(), this));
    const std::lock_guard lock(mutex_);
    known_to_ = &context;
}

std::optional<event> event_mailbox::take_first() {
    const std::lock_guard lock(mutex_);
    if (events_.empty()) {
        return std::nullopt;
    }
    std::optional<event> first(std::move(events_.front()));
    events_.pop_front();
    return first;
}

void event_mailbox::await_news(suspended_caller&& who) noexcept {
    const auto slot = who.cancellation();
    if (slot.is_connected()) {
        try {
            auto cancel = [weak = weak_from_this()](asio::cancellation_type) {
                if (const auto self = weak.lock()) {
                    self->cancel_wait();
                }
            };
            asio::cancellation_slot(slot).assign(std::move(cancel));
        } catch (const std::bad_alloc&) {} // it cannot be cancelled
    }
    const std::lock_guard lock(mutex_);
    if (events_.empty() && !is_closed_) {
        reader_ = std::move(who);
    } else {
        wake(std::move(who));
    }
}

/// On the reader's executor.
void event_mailbox::cancel_wait() noexcept {
    const std::lock_guard lock(mutex_);
    was_cancelled_ = static_cast<bool>(reader_);
    wake(std::move(reader_));
}

void event_mailbox::close() noexcept {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    wake(std::move(reader_));
}

/// With the wait goes the coroutine, and with that this, perhaps.
void event_mailbox::end_now(const asio::execution_context& context) noexcept {
    suspended_caller destroyed;
    const std::lock_guard lock(mutex_);
    if (known_to_ == &context) {
        known_to_ = nullptr;
        destroyed = std::move(reader_);
    }
}

void event_mailbox::wake(suspended_caller who) noexcept {
    try {
        if (who) {
            resume(std::move(who));
        }
    } catch (...) {} // out of memory: it is gone
}

} // namespace skep::detail
