// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/host_connection.hpp"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace skep {

namespace {

constexpr int exit_host_gone = 70;

std::atomic<bool> has_guard = false;
constexpr std::string_view protocol = "1";

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string() : value;
}

[[noreturn]] void fail(const std::string& description) {
    throw not_started_by_pool("this program cannot use the channels that the pool announced: " + description +
                              ": " + std::strerror(errno));
}

int number_in(const char* name) {
    const auto text = variable(name);
    int number = -1;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < 0) {
        throw not_started_by_pool(std::string("this program was started without a valid ") + name);
    }
    return number;
}

unique_fd copy_of(int fd) {
    unique_fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (copy.get() < 0) {
        fail("descriptor " + std::to_string(fd));
    }
    return copy;
}

unique_fd take_socket(const char* name) {
    const int fd = number_in(name);
    int type = 0;
    socklen_t size = sizeof type;
    if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
        ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) { // keep it open: it may be any file
        fail(name);
    }
    return unique_fd(fd);
}

void take_sockets(host_connection& target) {
    if (std::getenv("SKEP_TOKEN") == nullptr) {
        throw not_started_by_pool(
            "this program was started inside a skep worker, not by a pool (SKEP_TOKEN is missing)");
    }
    target.data_in = take_socket("SKEP_DATA_FD");
    target.control = take_socket("SKEP_CONTROL_FD");
    target.data_out = copy_of(target.data_in.get());
    if (std::getenv("SKEP_SHARED_FD") != nullptr) {
        target.regions = take_socket("SKEP_SHARED_FD");
    }
}

void take_stdio(host_connection& target) {
    target.data_in = copy_of(STDIN_FILENO);
    target.data_out = copy_of(STDOUT_FILENO);
    const unique_fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (null.get() < 0 || ::dup2(null.get(), STDIN_FILENO) < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        fail("stdin and stdout");
    }
    std::signal(SIGPIPE, SIG_IGN);
}

} // namespace

host_connection take_host_connection() {
    const auto spoken = variable("SKEP_PROTOCOL");
    if (spoken.empty()) {
        throw not_started_by_pool(
            "this program is a skep worker: a skep pool starts it and talks to it over "
            "descriptors of its own. Name it in the configuration of a pool instead of starting it by hand");
    }
    const bool over_stdio = variable("SKEP_TRANSPORT") == "stdio";
    host_connection connection;
    if (over_stdio) { // first: prints from here on must not get among the frames
        take_stdio(connection);
    }
    if (spoken != protocol) {
        throw not_started_by_pool("this program was started by a pool that speaks protocol " + spoken +
                                  ", but its version of skep speaks protocol " + std::string(protocol));
    }
    if (!over_stdio) {
        take_sockets(connection);
        has_guard = true;
    }
    connection.token = variable("SKEP_TOKEN");
    ::unsetenv("SKEP_TOKEN");
    ::unsetenv("SKEP_PROTOCOL");
    connection.worker = variable("SKEP_WORKER");
    if (std::getenv("SKEP_THREADS") != nullptr) {
        connection.threads = static_cast<std::size_t>(number_in("SKEP_THREADS"));
    }
    connection.wait = variable("SKEP_WAIT") == "block" ? wait_mode::block : wait_mode::adaptive;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    return connection;
}

int own_process_id() noexcept {
    return ::getpid();
}

void leave(int status) noexcept {
    ::_exit(status);
}

/// Over stdio, the host may be on another machine, so the worker kills its own group. Over sockets, the
/// host's guard ends the group a moment later.
void leave_as_host_is_gone() noexcept {
    if (!has_guard && ::getpgrp() == ::getpid()) {
        ::killpg(0, SIGKILL);
    }
    leave(exit_host_gone);
}

} // namespace skep
