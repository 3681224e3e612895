// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/standard_error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace skep {

namespace {

const bool was_open_at_start = ::fcntl(STDERR_FILENO, F_GETFD) >= 0; // before Asio opens anything

std::atomic<unsigned long> left_out = 0;

/// Keeps a SIGPIPE that one's own write may cause from ending the program.
class sigpipe_held {
public:
    sigpipe_held() noexcept {
        ::sigemptyset(&sigpipe_);
        ::sigaddset(&sigpipe_, SIGPIPE);
        sigset_t pending;
        ::sigpending(&pending);
        was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
        ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
    }
    ~sigpipe_held() {
        const timespec at_once{};
        while (!was_pending_ && ::sigtimedwait(&sigpipe_, nullptr, &at_once) > 0) {}
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    sigpipe_held(const sigpipe_held&) = delete;
    sigpipe_held& operator=(const sigpipe_held&) = delete;

private:
    sigset_t sigpipe_;
    sigset_t before_;
    bool was_pending_ = false;
};

/// A pipe that is ready takes so much in one piece, and no more for certain.
bool write_piece(std::string_view piece) noexcept {
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    return ::poll(&ready, 1, 0) == 1 && ready.revents == POLLOUT &&
           ::write(STDERR_FILENO, piece.data(), piece.size()) == static_cast<ssize_t>(piece.size());
}

bool write_all(std::string_view text) noexcept {
    bool written = true;
    while (written && !text.empty()) {
        const auto piece = text.substr(0, std::min<std::size_t>(text.size(), PIPE_BUF));
        written = write_piece(piece);
        text.remove_prefix(piece.size());
    }
    return written;
}

bool tell_what_was_left_out(unsigned long count) noexcept {
    std::array<char, 80> note{};
    const int length = std::snprintf(note.data(), note.size(), "skep: %lu lines were left out here\n", count);
    return write_all({note.data(), static_cast<std::size_t>(length)});
}

} // namespace

void write_to_standard_error(std::string_view line) noexcept {
    if (!was_open_at_start) {
        return;
    }
    const sigpipe_held held;
    const auto missed = left_out.exchange(0);
    const bool told = missed == 0 || tell_what_was_left_out(missed);
    if (!told || !write_all(line)) {
        left_out += 1 + (told ? 0 : missed);
    }
}

} // namespace skep
