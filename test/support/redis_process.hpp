// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/run.hpp"
#include <skep/redis_sessions.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace skep::test {

/// A Redis server of the test's own, which keeps nothing when it ends, and ends with the test at the latest;
/// on a Unix socket, or on a free port.
class redis_process {
public:
    explicit redis_process(bool is_local = true, std::vector<std::string> more = {}) {
        if (is_local) {
            options_.unix_socket = folder_ / "socket";
        } else {
            options_.port = free_port();
        }
        arguments_ = {"/usr/bin/setpriv",
                      "--pdeathsig",
                      "KILL",
                      SKEP_REDIS_SERVER,
                      "--save",
                      "",
                      "--appendonly",
                      "no",
                      "--dir",
                      folder_.path().string(),
                      "--bind",
                      "127.0.0.1",
                      "--port",
                      is_local ? "0" : std::to_string(options_.port)};
        if (is_local) {
            more.insert(more.end(), {"--unixsocket", options_.unix_socket});
        }
        arguments_.insert(arguments_.end(), more.begin(), more.end());
        start();
    }

    ~redis_process() { kill(); }
    redis_process(const redis_process&) = delete;
    redis_process& operator=(const redis_process&) = delete;

    /// How to reach it; with little patience.
    redis_options options() const {
        auto patient = options_;
        patient.connect_timeout = 2s;
        patient.operation_timeout = 2s;
        return patient;
    }

    void start() {
        std::vector<char*> pointers;
        for (auto& each : arguments_) {
            pointers.push_back(each.data());
        }
        pointers.push_back(nullptr);
        ::posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
        ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
        const int problem = ::posix_spawn(&pid_, pointers[0], &actions, nullptr, pointers.data(), environ);
        ::posix_spawn_file_actions_destroy(&actions);
        BOOST_REQUIRE(problem == 0);
        const auto end = std::chrono::steady_clock::now() + 20s;
        while (!is_up()) {
            BOOST_REQUIRE(std::chrono::steady_clock::now() < end);
            std::this_thread::sleep_for(5ms);
        }
    }

    void kill() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
            pid_ = 0;
        }
    }

    /// Returns a free port that the kernel gives to no connection: a connection of another test, or one to
    /// the port itself, could have taken the port before the server does.
    static unsigned free_port() {
        static constexpr unsigned lowest = 20'000;
        static constexpr unsigned count = 12'000; // below 32,768
        static unsigned next = static_cast<unsigned>(::getpid()) * 16;
        asio::io_context context(1);
        for (;;) {
            const auto port = lowest + next++ % count;
            const asio::ip::tcp::endpoint here(asio::ip::address_v4::loopback(),
                                               static_cast<unsigned short>(port));
            asio::ip::tcp::acceptor probe(context, here.protocol());
            boost::system::error_code failure;
            probe.bind(here, failure);
            if (!failure) {
                return port;
            }
        }
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

    void freeze() const { ::kill(pid_, SIGSTOP); }
    void thaw() const { ::kill(pid_, SIGCONT); }

private:
    bool is_up() const {
        asio::io_context context(1);
        boost::system::error_code ec;
        if (options_.unix_socket.empty()) {
            asio::ip::tcp::socket socket(context);
            const auto port = static_cast<unsigned short>(options_.port);
            socket.connect({asio::ip::address_v4::loopback(), port}, ec);
        } else {
            asio::local::stream_protocol::socket socket(context);
            socket.connect(options_.unix_socket, ec);
        }
        return !ec;
    }

    scratch_folder folder_;
    redis_options options_;
    std::vector<std::string> arguments_;
    ::pid_t pid_ = 0;
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
