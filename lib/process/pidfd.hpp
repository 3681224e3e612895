// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace skep {

// By system call, because the header of glibc 2.36 declares these functions in a way that C++ cannot link.

inline int pidfd_open(pid_t pid) noexcept {
    return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

inline int pidfd_send_signal(int pidfd, int number) noexcept {
    return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0));
}

} // namespace skep
