// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/blocking_io.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <system_error>
#include <unistd.h>

namespace skep {

namespace {

constexpr std::size_t most_pieces = 256; // per system call

bool would_block(int problem) noexcept {
    return problem == EAGAIN || problem == EWOULDBLOCK || problem == EINTR;
}

} // namespace

blocking_input::blocking_input(int input_fd, int watched_fd)
    : input_fd_(input_fd), watched_(watched_fd), interrupted_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (interrupted_.get() < 0) {
        throw std::system_error(errno, std::generic_category(), "eventfd");
    }
}

std::optional<std::size_t> blocking_input::read(std::span<char> room) noexcept {
    for (;;) {
        std::array<pollfd, 3> waits{
            {{input_fd_, POLLIN, 0}, {interrupted_.get(), POLLIN, 0}, {watched_, POLLRDHUP, 0}}};
        if (::poll(waits.data(), waits.size(), -1) < 0) {
            continue; // EINTR
        }
        if (waits[1].revents != 0) {
            return std::nullopt;
        }
        if (waits[0].revents != 0) {
            const auto count = ::read(input_fd_, room.data(), room.size());
            if (count >= 0 || !would_block(errno)) {
                return static_cast<std::size_t>(std::max<ssize_t>(count, 0));
            }
        } else if (waits[2].revents != 0) {
            return 0;
        }
    }
}

void blocking_input::interrupt() noexcept {
    const std::uint64_t once = 1;
    [[maybe_unused]] const auto written = ::write(interrupted_.get(), &once, sizeof once);
}

bool shared_output::write(std::span<const std::string_view> pieces) noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t done = 0; // bytes written of the first piece
    while (!pieces.empty()) {
        std::array<iovec, most_pieces> parts;
        const auto count = std::min(pieces.size(), most_pieces);
        for (std::size_t i = 0; i < count; ++i) {
            parts[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
        }
        parts[0] = {const_cast<char*>(pieces[0].data()) + done, pieces[0].size() - done};
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = count;
        auto sent = is_socket_ ? ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL)
                               : ::writev(fd_.get(), parts.data(), static_cast<int>(count));
        if (sent < 0 && errno == ENOTSOCK) {
            is_socket_ = false;
        } else if (sent < 0 && would_block(errno)) {
            pollfd wait{fd_.get(), POLLOUT, 0};
            ::poll(&wait, 1, -1);
        } else if (sent < 0) {
            return false;
        }
        for (done += static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
             !pieces.empty() && done >= pieces[0].size(); pieces = pieces.subspan(1)) {
            done -= pieces[0].size();
        }
    }
    return true;
}

bool shared_output::has_room() noexcept {
    pollfd wait{fd_.get(), POLLOUT, 0};
    return ::poll(&wait, 1, 0) > 0;
}

} // namespace skep
