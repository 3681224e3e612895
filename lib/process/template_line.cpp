// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/template_line.hpp"

#include "wire/template_messages.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace skep {

namespace {

constexpr int between_abort_looks = 20; // milliseconds

} // namespace

template_line::template_line(unique_fd line) noexcept : host_(::getpid()), line_(std::move(line)) {}

void template_line::end() noexcept {
    if (::getpid() == host_) {
        ::shutdown(line_.get(), SHUT_RDWR);
    }
}

bool template_line::send(std::string_view order, std::span<const int> descriptors) noexcept {
    return send_descriptors(line_.get(), order, descriptors) == static_cast<ssize_t>(order.size());
}

std::optional<message_with_descriptor> template_line::receive(duration limit, duration grace,
                                                              const launch_abort& abort) {
    using std::chrono::steady_clock;
    auto deadline = steady_clock::now() + limit;
    bool was_aborted = false;
    pollfd message{line_.get(), POLLIN, 0};
    int ready = 0;
    while (ready <= 0 && steady_clock::now() < deadline) {
        ready = ::poll(&message, 1, between_abort_looks);
        if (abort.is_requested() && !std::exchange(was_aborted, true)) {
            deadline = std::min(deadline, steady_clock::now() + grace);
        }
    }
    message_with_descriptor received;
    const bool is_whole = ready > 0 && receive_descriptor(line_.get(), most_template_bytes, received) > 0;
    return is_whole ? std::optional(std::move(received)) : std::nullopt;
}

unique_fd template_line::copy() const {
    unique_fd copy(::fcntl(line_.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (copy.get() < 0) {
        launcher::fail(launch_step::setup, errno);
    }
    return copy;
}

bool template_line::is_over() const noexcept {
    pollfd end{line_.get(), POLLRDHUP, 0};
    return ::poll(&end, 1, 0) != 0;
}

} // namespace skep
