// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/range_check.hpp"
#include "telemetry/event_mailbox.hpp"
#include <skep/event_bus.hpp>

#include <algorithm>
#include <utility>

namespace skep {

namespace asio = boost::asio;

namespace detail {

asio::awaitable<std::optional<event>> take_event(std::shared_ptr<event_mailbox> mailbox) {
    if (!mailbox) {
        co_return std::nullopt;
    }
    auto taking = event_mailbox::take(std::move(mailbox));
    std::optional<event> taken = co_await std::move(taking);
    co_return taken;
}

} // namespace detail

subscription::subscription(std::shared_ptr<detail::event_mailbox> mailbox) noexcept
    : mailbox_(std::move(mailbox)) {}

subscription& subscription::operator=(subscription&& other) noexcept {
    if (this != &other) {
        const auto old = std::exchange(mailbox_, std::move(other.mailbox_));
        if (old) {
            old->abandon();
        }
    }
    return *this;
}

subscription::~subscription() {
    if (mailbox_) {
        mailbox_->abandon();
    }
}

void subscription::close() noexcept {
    if (mailbox_) {
        mailbox_->close();
    }
}

std::uint64_t subscription::dropped() const noexcept {
    return mailbox_ ? mailbox_->dropped() : 0;
}

event_bus::event_bus() = default;

event_bus::~event_bus() {
    for (const auto& each : subscribers_) {
        if (const auto mailbox = each.mailbox.lock()) {
            mailbox->close();
        }
    }
}

void event_bus::end_waits() noexcept {
    const std::lock_guard lock(mutex_);
    has_ended_waits_ = true;
    for (const auto& each : subscribers_) {
        if (const auto mailbox = each.mailbox.lock()) {
            mailbox->end_waits();
        }
    }
}

std::shared_ptr<detail::event_mailbox> event_bus::open(std::uint64_t event_mask, std::size_t capacity) {
    check_ranges([&](const range_check& range) { range.number("capacity", capacity, 1, 1'000'000); });
    auto mailbox = std::make_shared<detail::event_mailbox>(capacity);
    const std::lock_guard lock(mutex_);
    drop_expired_subscribers();
    subscribers_.push_back({mailbox, event_mask});
    wanted_ |= event_mask;
    if (has_ended_waits_) {
        mailbox->end_waits();
    }
    return mailbox;
}

subscription event_bus::listen_to(std::uint64_t event_mask, asio::any_io_executor executor,
                                  std::function<void(const event&)> handler, std::size_t capacity) {
    auto mailbox = open(event_mask, capacity);
    mailbox->deliver_to(std::move(executor), std::move(handler));
    return subscription(std::move(mailbox));
}

void event_bus::put(const event& new_event) {
    const auto bit = std::uint64_t(1) << new_event.index();
    const std::lock_guard lock(mutex_);
    drop_expired_subscribers();
    for (const auto& each : subscribers_) {
        const auto mailbox = (each.wanted & bit) != 0 ? each.mailbox.lock() : nullptr;
        if (mailbox) {
            mailbox->put(new_event);
        }
    }
}

void event_bus::drop_expired_subscribers() {
    std::uint64_t wanted = 0;
    std::erase_if(subscribers_, [&](const subscriber& each) {
        const auto mailbox = each.mailbox.lock();
        const bool is_gone = !mailbox || mailbox->is_closed();
        wanted |= is_gone ? 0 : each.wanted;
        return is_gone;
    });
    wanted_ = wanted;
}

} // namespace skep
