// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/descriptors.hpp"

#include "process/launcher.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>

namespace skep {

namespace {

fd_pair make_sockets(const launcher& launch, int type) {
    launch.before(launch_step::socketpair);
    std::array<int, 2> fds{};
    if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds.data()) != 0) {
        launcher::fail(launch_step::socketpair, errno);
    }
    return {unique_fd(fds[0]), unique_fd(fds[1])};
}

} // namespace

fd_pair make_socket_pair(const launcher& launch) {
    return make_sockets(launch, SOCK_STREAM);
}

fd_pair make_packet_pair(const launcher& launch) {
    return make_sockets(launch, SOCK_SEQPACKET);
}

fd_pair make_pipe_to_here(const launcher& launch) {
    launch.before(launch_step::pipe);
    std::array<int, 2> fds{};
    if (::pipe2(fds.data(), O_CLOEXEC) != 0) {
        launcher::fail(launch_step::pipe, errno);
    }
    return {unique_fd(fds[0]), unique_fd(fds[1])};
}

} // namespace skep
