// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "redis/redis_connection.hpp"

#include "core/duration_text.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>

namespace skep {

using boost::system::error_code;

redis_connection::redis_connection(const strand& executor, std::shared_ptr<const redis_options> options,
                                   std::function<void(ptr)> on_idle)
    : options_(std::move(options)),
      on_idle_(std::move(on_idle)),
      resolver_(executor),
      socket_(executor),
      timer_(executor),
      connect_deadline_(steady_clock::now() + options_->connect_timeout) {}

void redis_connection::open() {
    watch();
    if (!options_->unix_socket.empty()) {
        connect({asio::local::stream_protocol::endpoint(options_->unix_socket)});
        return;
    }
    using results = asio::ip::tcp::resolver::results_type;
    auto on_found = [self = shared_from_this()](error_code ec, const results& found) {
        if (ec) {
            self->lose("no connection to " + self->address() + ": " + ec.message());
        } else if (!self->is_lost_) {
            std::vector<protocol::endpoint> endpoints;
            for (const auto& each : found) {
                endpoints.emplace_back(each.endpoint());
            }
            self->connect(endpoints);
        }
    };
    resolver_.async_resolve(options_->host, std::to_string(options_->port), std::move(on_found));
}

void redis_connection::connect(const std::vector<protocol::endpoint>& endpoints) {
    auto on_connected = [self = shared_from_this()](error_code ec, const protocol::endpoint&) {
        if (ec) {
            self->lose("no connection to " + self->address() + ": " + ec.message());
        } else if (!self->is_lost_) {
            self->greet();
        }
    };
    asio::async_connect(socket_, endpoints, std::move(on_connected));
}

void redis_connection::greet() {
    error_code ec;
    socket_.set_option(asio::ip::tcp::no_delay(true), ec); // which a Unix socket has not
    socket_.non_blocking(true, ec);                        // for is_usable()
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
    if (!is_lost_ && is_ready_ && !is_receiving_) {
        error_code ec;
        socket_.read_some(asio::buffer(input_), ec);
        if (ec != asio::error::would_block) { // its end, or what nobody asked for
            lose("the connection was lost");
        }
    }
    return !is_lost_;
}

void redis_connection::send(exchange_ptr added) {
    if (!is_ready_) {
        queued_.push_back(std::move(added));
        return;
    }
    begin(std::move(added));
    transmit();
    watch();
    receive();
}

void redis_connection::begin(exchange_ptr next) {
    next->deadline = steady_clock::now() + options_->operation_timeout;
    output_ += std::exchange(next->wire, {});
    sent_.push_back(std::move(next));
}

void redis_connection::cancel(const exchange_ptr& unwanted) {
    if (!unwanted->caller) {
        return;
    }
    std::erase(queued_, unwanted); // one that was sent stays in its place, for its reply
    unwanted->outcome.is_cancelled = true;
    unwanted->end();
}

void redis_connection::transmit() {
    if (is_transmitting_ || output_.empty()) {
        return;
    }
    is_transmitting_ = true;
    in_transit_ = std::exchange(output_, {});
    auto on_written = [self = shared_from_this()](error_code ec, std::size_t) {
        self->is_transmitting_ = false;
        if (ec) {
            self->lose("the connection was lost: " + ec.message());
        } else if (!self->is_lost_) {
            self->transmit();
        }
    };
    asio::async_write(socket_, asio::buffer(in_transit_), std::move(on_written));
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
        } else if (!self->is_lost_) {
            self->on_bytes({self->input_.data(), count});
        }
    };
    socket_.async_read_some(asio::buffer(input_), std::move(on_read));
}

void redis_connection::on_bytes(std::string_view bytes) {
    redis_reply reply;
    bool is_good = parser_.feed(bytes) && parser_.take(reply);
    while (is_good && reply && !is_lost_) {
        is_good = on_reply(std::move(reply)) && parser_.take(reply);
    }
    if (!is_good) {
        lose("what answers at " + address() + " does not speak Redis' protocol");
    }
    if (!is_lost_) {
        go_on();
    }
}

bool redis_connection::on_reply(redis_reply reply) {
    if (greetings_ > 0) {
        on_greeting(*reply);
        return true;
    }
    if (sent_.empty()) {
        return false;
    }
    const auto answered = std::move(sent_.front());
    sent_.pop_front();
    if (answered->caller) {
        answered->outcome.reply = std::move(reply);
        answered->end();
    }
    return true;
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
        return connect_deadline_;
    }
    return sent_.empty() ? time_point::max() : sent_.front()->deadline;
}

/// The timer is set anew only for what is due sooner: to do so for each reply takes longer than to wake up in vain.
void redis_connection::watch() {
    if (due() == time_point::max()) {
        watched_until_ = time_point::max();
        timer_.cancel();
        return;
    }
    if (due() >= watched_until_) {
        return;
    }
    watched_until_ = due();
    timer_.expires_at(watched_until_);
    auto on_time = [self = shared_from_this()](error_code ec) {
        if (ec || self->is_lost_) {
            return;
        }
        self->watched_until_ = time_point::max();
        if (steady_clock::now() < self->due()) {
            self->watch();
        } else if (self->is_ready_) {
            self->lose("no answer within " + in_milliseconds(self->options_->operation_timeout));
        } else {
            self->lose("no connection to " + self->address() + " within " +
                       in_milliseconds(self->options_->connect_timeout));
        }
    };
    timer_.async_wait(std::move(on_time));
}

void redis_connection::lose(const std::string& cause) {
    if (std::exchange(is_lost_, true)) {
        return;
    }
    error_code ec;
    socket_.close(ec);
    resolver_.cancel();
    timer_.cancel();
    for (auto* const those : {&sent_, &queued_}) {
        for (const auto& each : std::exchange(*those, {})) {
            if (each->caller) {
                each->outcome.problem = cause;
                each->end();
            }
        }
    }
}

std::string redis_connection::address() const {
    return options_->unix_socket.empty() ? options_->host + ":" + std::to_string(options_->port)
                                         : options_->unix_socket;
}

} // namespace skep
