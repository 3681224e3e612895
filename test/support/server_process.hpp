// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/run.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace skep::test {

/// A server of the test's own, which ends with the test at the latest.
class server_process {
public:
    ~server_process() { kill(); }
    server_process(const server_process&) = delete;
    server_process& operator=(const server_process&) = delete;

    /// Starts the server, also again, and returns when it is up.
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
        const auto end = std::chrono::steady_clock::now() + 60s;
        while (!is_up_()) {
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

    void signal(int number) const { ::kill(pid_, number); }
    void freeze() const { signal(SIGSTOP); }
    void thaw() const { signal(SIGCONT); }
    pid_t pid() const { return pid_; }

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

    /// Returns true if a server listens at that port.
    static bool listens(unsigned port) {
        asio::io_context context(1);
        asio::ip::tcp::socket socket(context);
        boost::system::error_code failure;
        socket.connect({asio::ip::address_v4::loopback(), static_cast<unsigned short>(port)}, failure);
        return !failure;
    }

protected:
    server_process() = default;

    /// `command`: with the absolute path of the program.
    void set_command(std::vector<std::string> command, std::function<bool()> is_up) {
        arguments_ = {"/usr/bin/setpriv", "--pdeathsig", "KILL"};
        arguments_.insert(arguments_.end(), command.begin(), command.end());
        is_up_ = std::move(is_up);
    }

    const scratch_folder& folder() const { return folder_; }

private:
    scratch_folder folder_;
    std::vector<std::string> arguments_;
    std::function<bool()> is_up_;
    ::pid_t pid_ = 0;
};

} // namespace skep::test
