// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "redis/redis_connection.hpp"

#include "core/duration_text.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <algorithm>
#include <exception>

namespace skep {

using boost::system::error_code;

namespace {

/// Maximum size of a reply besides the session's text.
constexpr std::size_t around_session = 4u << 10;

} // namespace

redis_connection::redis_connection(const strand& executor, std::shared_ptr<const redis_options> options,
                                   std::shared_ptr<redis_tls> tls, time_point begin,
                                   std::function<void(ptr)> on_idle)
    : options_(std::move(options)),
      on_idle_(std::move(on_idle)),
      resolver_(executor),
      transport_(executor, std::move(tls)),
      timer_(executor),
      pause_(executor),
      begin_(std::max(begin, steady_clock::now())),
      parser_(options_->session_bytes + around_session) {}

/// Runs a handler's step, unless the connection was lost meanwhile. An exception for lack of memory ends the
/// connection instead of the host.
template <class Step>
void redis_connection::attempt(Step step) {
    if (is_lost_) {
        return;
    }
    try {
        step();
    } catch (const std::exception& problem) {
        lose(problem.what());
    }
}

void redis_connection::open() {
    watch();
    if (begin_ <= steady_clock::now()) {
        resolve();
        return;
    }
    pause_.expire_at(begin_, [self = shared_from_this()] { self->attempt([&] { self->resolve(); }); });
}

void redis_connection::resolve() {
    if (!options_->unix_socket.empty()) {
        connect({asio::local::stream_protocol::endpoint(options_->unix_socket)});
        return;
    }
    error_code is_name;
    const auto known = asio::ip::make_address(options_->host, is_name);
    if (!is_name) {
        connect({asio::ip::tcp::endpoint(known, static_cast<asio::ip::port_type>(options_->port))});
        return;
    }
    using results = asio::ip::tcp::resolver::results_type;
    // Weak: a look-up cannot be interrupted, and look-ups of abandoned connections wait for one another.
    auto on_found = [weak = weak_from_this()](error_code ec, const results& addresses) {
        const auto self = weak.lock();
        if (!self) {
            return;
        }
        if (ec) {
            self->lose("no connection to " + self->address() + ": " + ec.message());
            return;
        }
        self->attempt([&] {
            std::vector<endpoint> endpoints;
            for (const auto& each : addresses) {
                endpoints.emplace_back(each.endpoint());
            }
            self->connect(endpoints);
        });
    };
    resolver_.async_resolve(options_->host, std::to_string(options_->port), std::move(on_found));
}

void redis_connection::connect(const std::vector<endpoint>& endpoints) {
    auto on_connected = [self = shared_from_this()](error_code ec) {
        if (ec) {
            self->lose("no connection to " + self->address() + ": " + self->transport_.cause_of(ec));
        } else {
            self->attempt([&] { self->greet(); });
        }
    };
    transport_.connect(endpoints, std::move(on_connected));
}

void redis_connection::greet() {
    std::vector<std::string_view> auth{"AUTH", options_->username, options_->password};
    if (options_->username.empty()) {
        auth.erase(auth.begin() + 1);
    }
    if (!options_->password.empty()) {
        output_ += redis_command(auth);
        ++greetings_;
    }
    if (options_->database != 0) {
        output_ += redis_command({"SELECT", std::to_string(options_->database)});
        ++greetings_;
    }
    go_on();
}

void redis_connection::go_on() {
    if (greetings_ == 0) {
        is_ready_ = true;
        for (auto& each : std::exchange(queued_, {})) {
            begin(std::move(each));
        }
    }
    transmit();
    watch();
    if (greetings_ > 0 || !sent_.empty()) {
        receive();
    } else {
        on_idle_(shared_from_this());
    }
}

bool redis_connection::is_usable() {
    if (!is_lost_ && is_ready_ && !is_receiving_ && in_transit_.empty() && !transport_.is_quiet()) {
        lose("the connection was lost");
    }
    return !is_lost_;
}

void redis_connection::send(exchange_ptr new_exchange) {
    ++awaited_;
    if (!is_ready_) {
        queued_.push_back(std::move(new_exchange));
        return;
    }
    begin(std::move(new_exchange));
    if (output_.size() > options_->waiting_bytes + options_->session_bytes) {
        lose("the server answers, but does not read"); // otherwise the limits would not bound the buffer
        return;
    }
    transmit();
    watch();
    receive();
}

void redis_connection::begin(exchange_ptr next) {
    next->deadline = steady_clock::now() + options_->operation_timeout;
    output_ += std::exchange(next->wire, {});
    sent_.push_back(std::move(next));
}

void redis_connection::cancel(const exchange_ptr& unwanted_exchange) {
    if (!unwanted_exchange->caller) {
        return;
    }
    std::erase(queued_, unwanted_exchange); // a sent exchange stays in its place, for its reply
    unwanted_exchange->outcome.is_cancelled = true;
    finish(*unwanted_exchange);
    if (awaited_ == 0) {
        lose("nothing waits for the server");
    }
}

void redis_connection::finish(redis_exchange& ended_exchange) {
    if (ended_exchange.caller) {
        --awaited_;
        ended_exchange.end();
    }
}

void redis_connection::transmit() {
    if (!in_transit_.empty() || output_.empty()) {
        return;
    }
    in_transit_ = std::exchange(output_, {});
    write_deadline_ = steady_clock::now() + options_->operation_timeout;
    auto on_written = [self = shared_from_this()](error_code ec, std::size_t) {
        self->in_transit_.clear();
        if (ec) {
            self->lose("the connection was lost: " + ec.message());
        } else {
            self->attempt([&] {
                self->transmit();
                self->watch();
            });
        }
    };
    transport_.write(asio::buffer(in_transit_), std::move(on_written));
}

void redis_connection::receive() {
    if (is_receiving_) {
        return;
    }
    is_receiving_ = true;
    auto on_read = [self = shared_from_this()](error_code ec, std::size_t count) {
        self->is_receiving_ = false;
        if (ec) {
            self->lose("the connection was lost: " + ec.message());
        } else {
            self->attempt([&] { self->on_bytes({self->input_.data(), count}); });
        }
    };
    transport_.read_some(asio::buffer(input_), std::move(on_read));
}

void redis_connection::on_bytes(std::string_view bytes) {
    parser_.feed(bytes);
    for (auto reply = parser_.take(); reply && !is_lost_; reply = parser_.take()) {
        on_reply(std::move(reply));
    }
    if (!parser_.problem().empty()) {
        lose("what answers at " + address() + " " + parser_.problem());
    }
    if (!is_lost_) {
        go_on();
    }
}

void redis_connection::on_reply(redis_reply reply) {
    if (greetings_ > 0) {
        on_greeting(*reply);
        return;
    }
    if (sent_.empty()) {
        lose("what answers at " + address() + " sent a reply to no command");
        return;
    }
    const auto answered = std::move(sent_.front());
    sent_.pop_front();
    if (answered->caller) {
        answered->outcome.reply = std::move(reply);
        finish(*answered);
    }
}

void redis_connection::on_greeting(const redisReply& reply) {
    if (reply.type == REDIS_REPLY_ERROR) {
        lose("no connection to " + address() + ": " + redis_refusal({reply.str, reply.len}));
    } else {
        --greetings_;
    }
}

time_point redis_connection::due() const noexcept {
    if (!is_ready_) {
        return begin_ + options_->connect_timeout;
    }
    const auto answer = sent_.empty() ? time_point::max() : sent_.front()->deadline;
    return in_transit_.empty() ? answer : std::min(answer, write_deadline_);
}

std::string redis_connection::overdue() const {
    return is_ready_
               ? "no answer within " + in_milliseconds(options_->operation_timeout)
               : "no connection to " + address() + " within " + in_milliseconds(options_->connect_timeout);
}

void redis_connection::watch() {
    auto on_time = [self = shared_from_this()] {
        self->attempt(
            [&] { steady_clock::now() < self->due() ? self->watch() : self->lose(self->overdue()); });
    };
    timer_.expire_at(due(), std::move(on_time));
}

void redis_connection::lose(const std::string& cause) {
    if (std::exchange(is_lost_, true)) {
        return;
    }
    transport_.close();
    resolver_.cancel();
    pause_.cancel();
    timer_.cancel();
    for (auto* const those : {&sent_, &queued_}) {
        for (const auto& each : std::exchange(*those, {})) {
            if (each->caller) {
                each->outcome.problem = cause;
                finish(*each);
            }
        }
    }
}

std::string redis_connection::address() const {
    return options_->unix_socket.empty() ? options_->host + ":" + std::to_string(options_->port)
                                         : options_->unix_socket;
}

} // namespace skep
