// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/nats_bus.hpp"

#include "remote/nats_inbox.hpp"
#include "remote/nats_session.hpp"

#include <algorithm>
#include <utility>

namespace skep {

namespace {

constexpr std::size_t most_subject = 1000; ///< bytes; a server takes 4 KiB with all that belongs to a message

/// Returns false for a subject that would end the connection. Peers choose some of the subjects.
bool is_sendable(std::string_view subject) noexcept {
    const auto ends_line = [](unsigned char c) { return c <= ' ' || c == 0x7F; };
    return subject.size() <= most_subject && std::none_of(subject.begin(), subject.end(), ends_line);
}

} // namespace

nats_bus::nats_bus(const strand& executor, bus_user& user, const nats_options& options)
    : patience_(options.connect_timeout),
      inbox_(std::make_shared<nats_inbox>(executor, user)),
      session_(std::make_shared<nats_session>(options, inbox_)) {
    thread_ = std::thread([session = session_] { session->run(); });
}

nats_bus::~nats_bus() {
    if (thread_.joinable()) {
        inbox_->close();
        session_->outbox().stop(duration::zero());
        end();
    }
}

boost::asio::awaitable<void> nats_bus::close() {
    if (thread_.joinable()) {
        inbox_->close();
        session_->outbox().stop(patience_);
        co_await inbox_->wait_for_thread();
        end();
    }
}

void nats_bus::publish(std::string_view subject, std::string_view reply, std::string_view head,
                       std::string_view body) {
    if (!is_up() || subject.empty() || !is_sendable(subject) || !is_sendable(reply)) {
        return;
    }
    std::string bytes;
    bytes.reserve(head.size() + body.size());
    bytes.append(head).append(body);
    session_->outbox().publish(
        {inbox_->connection(), std::string(subject), std::string(reply), std::move(bytes)});
}

void nats_bus::subscribe(std::string_view subject) {
    session_->outbox().subscribe(subject);
}

void nats_bus::unsubscribe(std::string_view subject) {
    session_->outbox().unsubscribe(subject);
}

bool nats_bus::is_up() const noexcept {
    return inbox_->connection() != 0;
}

std::size_t nats_bus::max_payload() const noexcept {
    return is_up() ? inbox_->max_payload() : least_payload;
}

void nats_bus::end() {
    thread_.join();
    inbox_->detach();
}

} // namespace skep
