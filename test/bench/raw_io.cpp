// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "raw_io.hpp"

#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace skep::bench {

void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

void write_all(int fd, const char* data, std::size_t size) {
    while (size > 0) {
        const auto count = ::write(fd, data, size);
        if (count <= 0) {
            fail("write");
        }
        data += count;
        size -= static_cast<std::size_t>(count);
    }
}

std::size_t read_some(int fd, char* data, std::size_t size) {
    const auto count = ::read(fd, data, size);
    if (count <= 0) {
        fail("read");
    }
    return static_cast<std::size_t>(count);
}

void read_all(int fd, char* data, std::size_t size) {
    while (size > 0) {
        const auto count = read_some(fd, data, size);
        data += count;
        size -= count;
    }
}

fd_pair make_socketpair() {
    std::array<int, 2> fds{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) != 0) {
        fail("socketpair");
    }
    return {unique_fd(fds[0]), unique_fd(fds[1])};
}

} // namespace skep::bench
