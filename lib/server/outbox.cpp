// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/outbox.hpp"

#include "process/host_connection.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <utility>

namespace skep {

namespace {

constexpr duration between_chunks = std::chrono::milliseconds(1);
constexpr std::size_t chunks_enough = 16u << 10; // bytes worth a write at once

} // namespace

outbox::outbox(const strand& executor, frame_output& output, error_handler on_error)
    : executor_(executor), output_(output), on_error_(std::move(on_error)), pause_(executor) {}

void outbox::attach(const placed_attachments& attachments) {
    for_each_in_frame(attachments, [this](const blob& each) { unsent_.append(each); });
}

void outbox::send() {
    if (unsent_.empty()) {
        return;
    }
    const std::weak_ptr life(life_);
    const auto pieces = unsent_.pieces();
    if (!output_.write(pieces)) {
        leave_as_host_is_gone();
    }
    if (life.expired()) { // the link of a node ends if it lacks memory
        return;
    }
    sent_ = clock::now();
    unsent_.clear();
}

void outbox::send_soon() {
    if (!is_posted_) {
        is_posted_ = true;
        asio::post(executor_, [this, life = std::weak_ptr(life_)] {
            if (!life.expired()) {
                is_posted_ = false;
                send_posted();
            }
        });
    }
}

void outbox::send_posted() noexcept {
    try {
        send();
    } catch (...) {
        on_error_(std::current_exception());
    }
}

void outbox::send_shortly() {
    if (unsent_.size() >= chunks_enough || clock::now() - sent_ >= between_chunks) {
        send();
    } else if (!is_timed_) {
        is_timed_ = true;
        pause_.expires_at(sent_ + between_chunks);
        pause_.async_wait([this, life = std::weak_ptr(life_)](boost::system::error_code) {
            if (!life.expired()) {
                is_timed_ = false;
                send_posted();
            }
        });
    }
}

bool outbox::try_send() {
    if (!output_.has_room()) {
        return false;
    }
    send();
    return true;
}

} // namespace skep
