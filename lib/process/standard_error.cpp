// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/standard_error.hpp"

#include "process/held_signal.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace skep {

namespace {

const bool was_open_at_start = ::fcntl(STDERR_FILENO, F_GETFD) >= 0; // before Asio opens anything

std::atomic<unsigned long> left_out = 0;

/// A ready pipe accepts one piece of this size; more is not guaranteed.
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

bool report_omissions(unsigned long count) noexcept {
    std::array<char, 80> note{};
    const int length = std::snprintf(note.data(), note.size(), "skep: %lu lines were left out here\n", count);
    return write_all({note.data(), static_cast<std::size_t>(length)});
}

} // namespace

void write_to_standard_error(std::string_view line) noexcept {
    if (!was_open_at_start) {
        return;
    }
    const held_signal of_pipe(SIGPIPE); // the pipe has no reader
    const held_signal of_file(SIGXFSZ); // the file has reached its size limit
    const auto missed = left_out.exchange(0);
    const bool told = missed == 0 || report_omissions(missed);
    if (!told || !write_all(line)) {
        left_out += 1 + (told ? 0 : missed);
    }
}

} // namespace skep
