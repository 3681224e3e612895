// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "telemetry/event_mailbox.hpp"

#include <skep/error.hpp>
#include <skep/execute_with_retry.hpp>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/this_coro.hpp>

#include <utility>

namespace skep::detail {

/// Locks the mutex, as the functions below do, so that a context that ends meanwhile waits: see end_now().
void event_mailbox::put(const event& new_event) {
    const std::lock_guard lock(mutex_);
    if (events_.size() == capacity_) {
        ++dropped_;
        return;
    }
    try {
        events_.push_back(new_event);
    } catch (const std::bad_alloc&) {
        ++dropped_;
        return;
    }
    wake(std::move(reader_));
    call_listener();
}

void event_mailbox::deliver_to(asio::any_io_executor executor, std::function<void(const event&)> handler) {
    enroll(executor);
    auto fresh = std::make_shared<listener>();
    fresh->handler = std::move(handler);
    const std::lock_guard lock(mutex_);
    if (!has_ended_waits_) {
        fresh->work = asio::prefer(executor, asio::execution::outstanding_work.tracked);
    }
    fresh->executor = std::move(executor);
    listener_ = std::move(fresh);
    call_listener();
}

/// Preconditions: the mutex is locked. Out of memory, the next event schedules the call.
void event_mailbox::call_listener() noexcept {
    if (!listener_ || listener_->is_called || (events_.empty() && !is_closed_)) {
        return;
    }
    try {
        const auto where = asio::require(listener_->executor, asio::execution::blocking.never);
        auto call = [self = shared_from_this()] {
            if (self) {
                self->deliver();
            }
        };
        execute_with_retry(where, std::move(call));
        listener_->is_called = true;
    } catch (const std::exception&) {}
}

/// Runs on the listener's executor, and yields it after 64 events.
void event_mailbox::deliver() noexcept {
    constexpr int handed_on_per_turn = 64;
    bool more = true;
    for (int i = 0; more && i < handed_on_per_turn; ++i) {
        more = deliver_one();
    }
    if (more) {
        const std::lock_guard lock(mutex_);
        if (listener_) {
            listener_->is_called = false;
            call_listener();
        }
    }
}

/// Returns false if the queue is empty for now. Releases a listener after its last call.
bool event_mailbox::deliver_one() noexcept {
    std::shared_ptr<listener> to;
    std::optional<event> next;
    {
        const std::lock_guard lock(mutex_);
        to = listener_;
        if (is_given_up_ || events_.empty()) {
            if (is_closed_) {
                listener_.reset();
            } else if (listener_) {
                listener_->is_called = false;
            }
            return false;
        }
        next.emplace(std::move(events_.front()));
        events_.pop_front();
    }
    if (to) {
        try {
            to->handler(*next);
        } catch (...) {} // as documented at event_bus::listen
    }
    return to != nullptr;
}

void event_mailbox::end_waits() noexcept {
    const std::lock_guard lock(mutex_);
    has_ended_waits_ = true;
    wake(std::move(reader_));
    if (listener_) {
        listener_->work = {};
    }
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
        const bool is_last_look = self->is_closed_ || self->has_ended_waits_;
        auto first = self->take_first();
        if (first || is_last_look) {
            co_return first;
        }
        auto waiting =
            suspend([box = self.get()](suspended_caller&& caller) { box->await_news(std::move(caller)); });
        co_await std::move(waiting);
    }
}

/// Registers with the context of `executor`: a context under destruction does not know waits of a mailbox.
void event_mailbox::enroll(const asio::any_io_executor& executor) {
    const auto& context = asio::query(executor, asio::execution::context);
    if (known_to_ == &context) { // stable as long as it is the reader's context
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

void event_mailbox::await_news(suspended_caller&& caller) noexcept {
    const auto slot = caller.get_cancellation_slot();
    if (slot.is_connected()) {
        try {
            auto cancel = [weak = weak_from_this()](asio::cancellation_type) {
                if (const auto self = weak.lock()) {
                    self->cancel_wait();
                }
            };
            asio::cancellation_slot(slot).assign(std::move(cancel));
        } catch (const std::bad_alloc&) {} // this wait cannot be cancelled
    }
    const std::lock_guard lock(mutex_);
    if (events_.empty() && !is_closed_ && !has_ended_waits_) {
        reader_ = std::move(caller);
    } else {
        wake(std::move(caller));
    }
}

/// Runs on the reader's executor.
void event_mailbox::cancel_wait() noexcept {
    const std::lock_guard lock(mutex_);
    was_cancelled_ = static_cast<bool>(reader_);
    wake(std::move(reader_));
}

void event_mailbox::close() noexcept {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    wake(std::move(reader_));
    if (listener_) {
        listener_->work = {};
        call_listener(); // releases the handler on its executor
    }
}

/// Destroys the waiting coroutine, and with it perhaps this mailbox.
void event_mailbox::end_now(const asio::execution_context& context) noexcept {
    suspended_caller destroyed;
    std::shared_ptr<listener> uncalled;
    const std::lock_guard lock(mutex_);
    if (known_to_ == &context) {
        known_to_ = nullptr;
        destroyed = std::move(reader_);
        uncalled = std::move(listener_);
    }
}

void event_mailbox::wake(suspended_caller caller) noexcept {
    caller.complete();
}

} // namespace skep::detail
