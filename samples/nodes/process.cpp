// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <csignal>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace asio = boost::asio;

process::process(std::vector<std::string> command) {
    command.insert(command.begin(), {"setpriv", "--pdeathsig", "TERM"});
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (auto& word : command) {
        words.push_back(word.data());
    }
    words.push_back(nullptr);
    const int problem = ::posix_spawnp(&pid_, words[0], nullptr, nullptr, words.data(), environ);
    if (problem != 0) {
        throw std::system_error(problem, std::generic_category(), command[0]);
    }
}

process::~process() {
    if (pid_ != 0) {
        signal(SIGTERM);
        ::waitpid(pid_, nullptr, 0);
    }
}

process::process(process&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}

void process::signal(int number) const {
    ::kill(pid_, number);
}

asio::awaitable<int> process::ended() {
    const auto executor = co_await asio::this_coro::executor;
    asio::posix::stream_descriptor end(executor, static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    co_await end.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    co_return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
