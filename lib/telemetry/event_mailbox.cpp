// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "telemetry/event_mailbox.hpp"

#include <skep/error.hpp>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace skep::detail {

void event_mailbox::put(const event& what) {
    const std::lock_guard lock(mutex_);
    if (events_.size() == capacity_) {
        ++dropped_;
        return;
    }
    events_.push_back(what);
    news_->try_send(boost::system::error_code());
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

asio::awaitable<std::optional<event>> event_mailbox::take() {
    for (;;) {
        const auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none) {
            throw error(errc::cancelled, {});
        }
        const bool is_last_look = is_closed_;
        auto first = take_first();
        if (first || is_last_look) {
            co_return first;
        }
        boost::system::error_code ec;
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        co_await news_->async_receive(std::move(token));
        if (ec) {
            renew_signal();
            throw error(errc::cancelled, {});
        }
    }
}

void event_mailbox::renew_signal() {
    const std::lock_guard lock(mutex_);
    news_.emplace(executor_, 1);
}

void event_mailbox::close() noexcept {
    is_closed_ = true;
    try {
        const std::lock_guard lock(mutex_);
        news_->try_send(boost::system::error_code());
    } catch (const std::exception&) {} // it was not woken, and is at the next look
}

} // namespace skep::detail
