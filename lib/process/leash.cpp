// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/leash.hpp"

#include <csignal>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace skep {

leash::leash(unique_fd host_end, unique_fd guard_end) noexcept
    : host_(::getpid()), host_end_(std::move(host_end)), guard_end_(std::move(guard_end)) {}

void leash::pull() const noexcept {
    if (host_end_.get() >= 0 && ::getpid() == host_) {
        ::send(host_end_.get(), "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

bool arm_leash(int end) noexcept {
    return ::fcntl(end, F_SETOWN, -::getpid()) == 0 && ::fcntl(end, F_SETSIG, SIGKILL) == 0 &&
           ::fcntl(end, F_SETFL, O_RDWR | O_ASYNC) == 0;
}

} // namespace skep
