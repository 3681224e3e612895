// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace skep {

class launcher;

/// Owns a file descriptor.
class unique_fd {
public:
    unique_fd() = default;
    explicit unique_fd(int fd) noexcept : fd_(fd) {}
    unique_fd(unique_fd&& other) noexcept : fd_(other.release()) {}
    unique_fd& operator=(unique_fd&& other) noexcept {
        reset(other.release());
        return *this;
    }
    ~unique_fd() { reset(); }

    int get() const noexcept { return fd_; }
    int release() noexcept { return std::exchange(fd_, -1); }
    void reset(int fd = -1) noexcept {
        if (fd_ >= 0) {
            ::close(fd_);
        }
        fd_ = fd;
    }

private:
    int fd_ = -1;
};

/// Two connected descriptors, one for this process and one for another process.
struct fd_pair {
    unique_fd here;
    unique_fd there;
};

/// Return two connected ends: of a socket pair for a stream or for whole messages, or of a pipe to this
/// process. Throw error(spawn_failed).
fd_pair make_socket_pair(const launcher& launch);
fd_pair make_packet_pair(const launcher& launch);
fd_pair make_pipe_to_here(const launcher& launch);

// These functions are system calls, because the header of glibc 2.36 declares them in a form that C++ cannot
// link.

inline int pidfd_open(pid_t pid) noexcept {
    return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

inline int pidfd_send_signal(int pidfd, int number) noexcept {
    return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0));
}

} // namespace skep
