// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/nats_outbox.hpp"

#include <chrono>
#include <utility>

namespace skep {

namespace {

std::size_t bytes_of(const nats_task& task) {
    const auto* const message = std::get_if<outgoing_message>(&task);
    return message != nullptr ? message->subject.size() + message->reply.size() + message->body.size() : 0;
}

} // namespace

void nats_outbox::publish(outgoing_message message) {
    nats_task task(std::move(message));
    const auto size = bytes_of(task);
    {
        const std::lock_guard lock(mutex_);
        const bool has_room = bytes_ == 0 || bytes_ + size <= most_bytes_;
        if (!has_room || std::get<outgoing_message>(task).connection != connection_) {
            return;
        }
        add(std::move(task));
        bytes_ += size;
    }
    change_.notify_one(); // without the lock, which the thread needs at once
}

void nats_outbox::subscribe(std::string_view subject) {
    const std::lock_guard lock(mutex_);
    if (subjects_.emplace(subject).second) {
        add(subscription_change{std::string(subject), true});
        change_.notify_one();
    }
}

void nats_outbox::unsubscribe(std::string_view subject) {
    const std::lock_guard lock(mutex_);
    if (subjects_.erase(std::string(subject)) > 0) {
        add(subscription_change{std::string(subject), false});
        change_.notify_one();
    }
}

void nats_outbox::stop(duration patience) {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    stop_time_ = std::chrono::steady_clock::now() + patience;
    change_.notify_one();
}

void nats_outbox::on_loss() {
    const std::lock_guard lock(mutex_);
    is_lost_ = true;
    change_.notify_one();
}

void nats_outbox::on_lame_duck() {
    const std::lock_guard lock(mutex_);
    add(lame_duck());
    change_.notify_one();
}

bool nats_outbox::is_stopped() const {
    const std::lock_guard lock(mutex_);
    return is_stopped_;
}

bool nats_outbox::is_late() const {
    const std::lock_guard lock(mutex_);
    return is_late_now();
}

bool nats_outbox::is_lost() const {
    const std::lock_guard lock(mutex_);
    return is_lost_;
}

std::set<std::string, std::less<>> nats_outbox::begin(std::uint64_t connection) {
    const std::lock_guard lock(mutex_);
    connection_ = connection;
    return subjects_;
}

std::optional<nats_task> nats_outbox::next() {
    std::unique_lock lock(mutex_);
    change_.wait(lock, [&] { return is_lost_ || is_stopped_ || !tasks_.empty(); });
    if (is_lost_ || is_late_now() || tasks_.empty()) {
        return std::nullopt;
    }
    std::optional<nats_task> task(std::move(tasks_.front()));
    tasks_.pop_front();
    bytes_ -= bytes_of(*task);
    return task;
}

void nats_outbox::wait_for_loss(duration limit) {
    std::unique_lock lock(mutex_);
    change_.wait_for(lock, limit, [&] { return is_lost_; });
}

void nats_outbox::end() {
    const std::lock_guard lock(mutex_);
    tasks_.clear();
    bytes_ = 0;
    connection_ = 0;
    is_lost_ = false;
}

bool nats_outbox::pause(duration length) {
    std::unique_lock lock(mutex_);
    return !change_.wait_for(lock, length, [&] { return is_stopped_; });
}

bool nats_outbox::is_late_now() const {
    return is_stopped_ && std::chrono::steady_clock::now() >= stop_time_;
}

void nats_outbox::add(nats_task task) {
    if (connection_ != 0) {
        tasks_.push_back(std::move(task));
    }
}

} // namespace skep
