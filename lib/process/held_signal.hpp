// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <csignal>
#include <ctime>

namespace skep {

/// Blocks a signal for this thread, and discards it on destruction if it was raised meanwhile. For SIGPIPE
/// and SIGXFSZ: a system call of this thread may raise them, and they would end the program.
class held_signal {
public:
    explicit held_signal(int number) noexcept {
        ::sigemptyset(&held_);
        ::sigaddset(&held_, number);
        sigset_t pending;
        ::sigpending(&pending);
        was_pending_ = ::sigismember(&pending, number) == 1;
        ::pthread_sigmask(SIG_BLOCK, &held_, &old_mask_);
    }
    ~held_signal() {
        const timespec at_once{};
        while (!was_pending_ && ::sigtimedwait(&held_, nullptr, &at_once) > 0) {}
        ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
    }
    held_signal(const held_signal&) = delete;
    held_signal& operator=(const held_signal&) = delete;

private:
    sigset_t held_;
    sigset_t old_mask_;
    bool was_pending_ = false;
};

} // namespace skep
