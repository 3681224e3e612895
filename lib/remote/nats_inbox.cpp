// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/nats_inbox.hpp"

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace skep {

namespace {

constexpr std::size_t most_reported = 100;            ///< different problems, while one connection is up
constexpr std::size_t most_handled = 64;              ///< events that are kept
constexpr std::size_t most_handled_bytes = 64u << 10; ///< of these

std::size_t bytes_of(const nats_event& event) {
    const auto* const message = std::get_if<nats_message>(&event);
    return message != nullptr ? static_cast<std::size_t>(natsMsg_GetDataLength(message->get())) : 0;
}

std::string_view text_of(const char* text) {
    return text != nullptr ? text : std::string_view();
}

} // namespace

nats_inbox::nats_inbox(const strand& executor, bus_user& user)
    : executor_(asio::prefer(asio::any_io_executor(executor), asio::execution::outstanding_work.tracked)),
      user_(user),
      thread_end_(std::make_unique<latch>(executor)) {
    handled_.reserve(most_handled);
}

void nats_inbox::put(nats_event event) {
    const auto size = bytes_of(event);
    const std::lock_guard lock(mutex_);
    if (!executor_) {
        return;
    }
    if (size > 0 && bytes_ + size > most_bytes) {
        event = nats_problem{"messages are lost: " + std::to_string(most_bytes >> 20) +
                             " MiB of them wait for the program"};
    } else {
        bytes_ += size;
    }
    events_.push_back(std::move(event));
    post();
}

void nats_inbox::detach() {
    close();
    thread_end_.reset();
    asio::any_io_executor ended_executor; // ends without the lock
    const std::lock_guard lock(mutex_);
    std::swap(executor_, ended_executor);
}

void nats_inbox::post() {
    if (!is_posted_) {
        asio::post(executor_, [self = shared_from_this()] { self->deliver(); });
        is_posted_ = true;
    }
}

void nats_inbox::deliver() {
    auto events = take();
    for (const auto& event : events) {
        std::visit([&](const auto& each) { handle(each); }, event);
    }
    discard(std::move(events));
}

/// Destroys handled events, many together: cnats frees messages on a thread of its own, and wakes that thread
/// for each message that comes alone. Allocates nothing.
void nats_inbox::discard(std::vector<nats_event> handled) noexcept {
    for (const auto& each : handled) {
        handled_bytes_ += bytes_of(each);
    }
    if (handled_.size() + handled.size() > most_handled || handled_bytes_ > most_handled_bytes) {
        handled_.clear();
        handled_bytes_ = 0;
    } else {
        std::move(handled.begin(), handled.end(), std::back_inserter(handled_));
    }
}

std::vector<nats_event> nats_inbox::take() {
    const std::lock_guard lock(mutex_);
    is_posted_ = false;
    bytes_ = 0;
    return std::exchange(events_, {});
}

void nats_inbox::handle(const nats_message& message) {
    if (is_closed_) {
        return;
    }
    bus_message received;
    received.subject = text_of(natsMsg_GetSubject(message.get()));
    received.reply = text_of(natsMsg_GetReply(message.get()));
    received.body = {natsMsg_GetData(message.get()),
                     static_cast<std::size_t>(natsMsg_GetDataLength(message.get()))};
    received.has_no_receiver = natsMsg_IsNoResponders(message.get());
    user_.on_message(received);
}

void nats_inbox::handle(const connection_change& change) {
    if (is_closed_ || change.number == connection_.number) { // lost before the user has known it
        return;
    }
    connection_ = change;
    if (change.number != 0) {
        reported_.clear();
    }
    user_.on_connection(change.number != 0);
}

void nats_inbox::handle(const nats_problem& problem) {
    const bool is_new = reported_.size() < most_reported && reported_.insert(problem.text).second;
    if (!is_closed_ && is_new) {
        user_.on_problem(problem.text);
    }
}

void nats_inbox::handle(const nats_thread_end&) {
    if (thread_end_) {
        thread_end_->open();
    }
}

} // namespace skep
