// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/server_process.hpp"
#include <skep/redis_sessions.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <string>
#include <utility>
#include <vector>

namespace skep::test {

/// A Redis server that keeps nothing when it ends; on a Unix socket, or on a free port.
class redis_process : public server_process {
public:
    explicit redis_process(bool is_local = true, std::vector<std::string> more = {}) {
        if (is_local) {
            options_.unix_socket = folder() / "socket";
        } else {
            options_.port = free_port();
        }
        std::vector<std::string> command{SKEP_REDIS_SERVER,
                                         "--save",
                                         "",
                                         "--appendonly",
                                         "no",
                                         "--dir",
                                         folder().path().string(),
                                         "--bind",
                                         "127.0.0.1",
                                         "--port",
                                         is_local ? "0" : std::to_string(options_.port)};
        if (is_local) {
            more.insert(more.end(), {"--unixsocket", options_.unix_socket});
        }
        command.insert(command.end(), more.begin(), more.end());
        set_command(std::move(command), [this] { return is_up(); });
        start();
    }

    /// How to reach it; with little patience.
    redis_options options() const {
        auto patient = options_;
        patient.connect_timeout = 2s;
        patient.operation_timeout = 2s;
        return patient;
    }

    /// What a local server answers to a command: a number or a text, empty for none.
    std::string ask(const std::string& command) const {
        asio::io_context context(1);
        asio::local::stream_protocol::socket socket(context);
        socket.connect(options_.unix_socket);
        asio::write(socket, asio::buffer(command + "\r\n"));
        std::string received;
        const auto take_line = [&] {
            const auto size = asio::read_until(socket, asio::dynamic_buffer(received), "\r\n");
            const auto line = received.substr(0, size - 2);
            received.erase(0, size);
            return line;
        };
        const auto first = take_line();
        const bool is_text = first.front() == '$';
        return !is_text ? first.substr(1) : first == "$-1" ? "" : take_line();
    }

private:
    bool is_up() const {
        if (options_.unix_socket.empty()) {
            return listens(options_.port);
        }
        asio::io_context context(1);
        boost::system::error_code ec;
        asio::local::stream_protocol::socket socket(context);
        socket.connect(options_.unix_socket, ec);
        return !ec;
    }

    redis_options options_;
};

/// Runs `body(context, server)`, a coroutine, as run() does.
template <class Body>
void with_redis(Body body, int thread_count = 1) {
    run(
        [&](asio::io_context& context) -> asio::awaitable<void> {
            redis_process server;
            co_await body(context, server);
        },
        thread_count);
}

/// The sessions of one service on that server.
struct redis_service {
    redis_service(asio::io_context& context, const redis_options& where, session_options options = {})
        : backend(std::make_shared<redis_sessions>(context.get_executor(), where)),
          store(std::move(options), backend) {}

    std::shared_ptr<redis_sessions> backend;
    session_store store;
};

inline void count_up(session_data& data) {
    const auto* const counted = data.metadata().if_contains("n");
    data.metadata("n", counted == nullptr ? 1 : counted->as_int64() + 1);
}

} // namespace skep::test
