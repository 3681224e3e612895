// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/link.hpp"

#include "async/pause.hpp"
#include "wire/protocol_violation.hpp"
#include "wire/stray_output.hpp"

#include <boost/asio/post.hpp>

#include <string>
#include <utility>

namespace skep {

namespace {

// Of events and log records, each of at most 16 KiB; more than that waits in the worker.
constexpr std::size_t records_at_once = 2000;
constexpr std::size_t records_per_second = 5000;

bool is_record(const worker_message& message) noexcept {
    return std::holds_alternative<event_message>(message) || std::holds_alternative<log_message>(message);
}

} // namespace

link::link(const pool_context& context, std::unique_ptr<byte_stream> data,
           std::unique_ptr<byte_stream> control, const limit_options& limits, link_user& user)
    : context_(context),
      user_(user),
      data_(context.executor, std::move(data), limits),
      brake_(records_at_once, records_per_second) {
    if (control) {
        control_.emplace(context.executor, std::move(control), limits);
    }
}

void link::start(task_group& tasks, const std::shared_ptr<void>& owner) {
    tasks.spawn(owner, read_data());
    tasks.spawn(owner, write(data_, "data"));
    if (control_) {
        tasks.spawn(owner, read_control());
        tasks.spawn(owner, write(*control_, "control"));
    }
}

void link::flush_soon(const std::shared_ptr<void>& owner) {
    if (flush_scheduled_) {
        return;
    }
    asio::post(context_.executor, [this, owner = owner] {
        flush_scheduled_ = false;
        data_.flush();
    });
    flush_scheduled_ = true;
}

void link::stop_sending_calls() noexcept {
    if (control_) { // else they share the channel, and a frame must not be cut off
        data_.stop_sending();
    }
}

void link::close() noexcept {
    data_.close();
    if (control_) {
        control_->close();
    }
}

asio::awaitable<void> link::read_data() {
    bool more = true;
    while (more) {
        more = co_await data_.receive();
        heard_out_ = !more;
        user_.on_sign_of_life(); // before the messages: the one that makes it ready answers no ping
        more = take_messages(data_) && more;
        if (records_taken_ > 0) {
            co_await pause_if_flooded();
        }
    }
    user_.on_data_ended(stray());
    user_.on_broken({failure_kind::process_exit, "it closed its data channel", errc::worker_lost});
}

asio::awaitable<void> link::read_control() {
    bool more = true;
    while (more) {
        more = co_await control_->receive();
        more = take_messages(*control_) && more;
        if (records_taken_ > 0) {
            co_await pause_if_flooded();
        }
    }
    user_.on_broken({failure_kind::process_exit, "it closed its control channel", errc::worker_lost});
}

/// A worker that tells too much is to leave time for others.
asio::awaitable<void> link::pause_if_flooded() {
    const auto now = context_.now();
    const auto go_on = brake_.charge(std::exchange(records_taken_, 0), now);
    if (go_on > now) {
        co_await pause_until(context_.executor, go_on);
    }
}

/// It may still be readable when it cannot be written to.
asio::awaitable<void> link::write(channel& to, const char* name) {
    bool more = true;
    while (more) {
        more = co_await to.send_backlog();
        user_.on_backlog_shrunk();
    }
    const auto text = std::string("its ") + name + " channel cannot be written to";
    user_.on_broken({failure_kind::process_exit, text, errc::worker_lost});
}

/// False if it broke the protocol.
bool link::take_messages(channel& source) {
    const bool is_control = &source != &data_;
    try {
        while (const auto frame = source.next()) {
            auto message = source.decode(*frame);
            if (const auto* const objection = objection_to(message, is_control)) {
                throw protocol_violation(objection);
            }
            go_on(message);
            records_taken_ += is_record(message) ? 1 : 0;
            user_.on_message(message);
        }
        return true;
    } catch (const protocol_violation& violation) {
        const auto printed = stray();
        const auto* const why = printed.empty() ? violation.what() : printed.c_str();
        user_.on_broken({failure_kind::protocol_error, why, errc::protocol_error});
        return false;
    }
}

/// Over stdio, text where a frame should be says more than the rule that it breaks. Empty if there is none.
std::string link::stray() const {
    const auto line = control_ ? std::string() : stray_output(data_.unread());
    return line.empty() ? line
                        : "something printed to its stdout, over which only frames may go: \"" + line + '"';
}

/// Which message may come over which channel, and when; nullptr if this one may.
const char* link::objection_to(const worker_message& message, bool is_control) const noexcept {
    const bool is_early_record = is_record(message) && phase_ == phase::greeting;
    const bool is_for_control = std::holds_alternative<pong_message>(message) || is_record(message);
    if (is_control) {
        return is_early_record  ? "a record before its hello"
               : is_for_control ? nullptr
                                : "only pong, event and log may come over the control channel";
    }
    if (is_for_control) {
        return has_control()     ? "pong, event and log may come over the control channel only"
               : is_early_record ? "a record before its hello"
                                 : nullptr;
    }
    if (std::holds_alternative<hello_message>(message)) {
        return phase_ == phase::greeting ? nullptr : "a second hello";
    }
    if (std::holds_alternative<ready_message>(message)) {
        return phase_ == phase::starting ? nullptr : "an unexpected ready";
    }
    return nullptr; // an answer: it is up to the calls
}

void link::go_on(const worker_message& message) noexcept {
    if (std::holds_alternative<hello_message>(message)) {
        phase_ = phase::starting;
        welcomed_ = context_.now();
    } else if (std::holds_alternative<ready_message>(message)) {
        phase_ = phase::serving;
    }
}

} // namespace skep
