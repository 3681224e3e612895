// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/events.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace skep::detail {

namespace asio = boost::asio;

/// What has happened and was not read yet by one of those who want to know. From any thread; read by one at a time.
class event_mailbox {
public:
    event_mailbox(asio::any_io_executor executor, std::size_t capacity)
        : executor_(std::move(executor)), capacity_(capacity), news_(std::in_place, executor_, 1) {}

    /// Dropped, and counted, if there is no place for it.
    void put(const event& what);

    /// None once it is closed and empty.
    asio::awaitable<std::optional<event>> take();

    /// Nothing more comes. What is there can be taken.
    void close() noexcept;

    /// The same, and nobody wants what is there.
    void give_up() noexcept {
        is_given_up_ = true;
        close();
    }

    bool is_closed() const noexcept { return is_closed_; }
    bool is_given_up() const noexcept { return is_given_up_; }
    std::uint64_t dropped() const noexcept { return dropped_; }

private:
    using signal = asio::experimental::concurrent_channel<void(boost::system::error_code)>;

    std::optional<event> take_first();

    /// In its place, as Asio's takes nothing for a while after a wait was cancelled.
    void renew_signal();

    asio::any_io_executor executor_;
    std::size_t capacity_;
    std::mutex mutex_;
    std::deque<event> events_;
    std::optional<signal> news_; ///< there may be an event, or it was closed
    std::atomic<std::uint64_t> dropped_{0};
    std::atomic<bool> is_closed_{false};
    std::atomic<bool> is_given_up_{false};
};

} // namespace skep::detail
