// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "call/progress_relay.hpp"

#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace skep {

progress_relay::progress_relay(boost::asio::any_io_executor executor, progress_handler handler)
    : executor_(std::move(executor)), handler_(std::move(handler)) {}

void progress_relay::put(progress newest) noexcept {
    const std::lock_guard lock(guard_);
    newest_ = std::move(newest);
    if (!is_scheduled_) {
        deliver_soon();
    }
}

void progress_relay::close() noexcept {
    is_closed_ = true;
    if (runner_ != std::this_thread::get_id()) {
        const std::lock_guard until_it_has_returned(running_);
    }
}

void progress_relay::deliver_soon() {
    try {
        boost::asio::post(executor_, [self = shared_from_this()] { self->deliver(); });
        is_scheduled_ = true;
    } catch (const std::exception&) { // out of memory
        is_scheduled_ = false;
    }
}

void progress_relay::deliver() {
    const std::lock_guard running(running_);
    if (const auto report = take_newest(); report && !is_closed_) {
        runner_ = std::this_thread::get_id();
        try {
            handler_(*report);
        } catch (...) { // exceptions of the handler do not affect the call
        }
        runner_ = std::thread::id();
    }
    const std::lock_guard lock(guard_);
    is_scheduled_ = false;
    if (newest_) { // a report has arrived meanwhile
        deliver_soon();
    }
}

std::optional<progress> progress_relay::take_newest() noexcept {
    const std::lock_guard lock(guard_);
    return std::exchange(newest_, std::nullopt);
}

} // namespace skep
