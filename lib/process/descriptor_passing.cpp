// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/descriptor_passing.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace skep {

namespace {

constexpr std::size_t control_bytes = CMSG_SPACE(most_passed_descriptors * sizeof(int));

/// Lets no close() wait: a sender may pass a socket that sends its data first (SO_LINGER).
void disarm(int descriptor) noexcept {
    const linger none{};
    ::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof none); // fails for anything but a socket
}

/// Keeps the first descriptor of the message, and closes the others.
unique_fd take_descriptor(msghdr& header) noexcept {
    unique_fd kept;
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        std::array<int, control_bytes / sizeof(int)> descriptors{};
        const std::size_t bytes = part->cmsg_len - CMSG_LEN(0);
        std::memcpy(descriptors.data(), CMSG_DATA(part), std::min(bytes, sizeof descriptors));
        for (const int each : std::span(descriptors).first(bytes / sizeof(int))) {
            unique_fd owned(each);
            disarm(each);
            if (kept.get() < 0) {
                kept = std::move(owned);
            }
        }
    }
    return kept;
}

} // namespace

ssize_t send_descriptors(int socket, std::string_view text, std::span<const int> descriptors) noexcept {
    iovec data{const_cast<char*>(text.data()), text.size()};
    alignas(cmsghdr) std::array<char, control_bytes> space{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = space.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::ranges::copy(std::as_bytes(descriptors), reinterpret_cast<std::byte*>(CMSG_DATA(part)));
    ssize_t sent = 0;
    do {
        sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

void refuse_descriptors(int socket) noexcept {
    constexpr int so_passrights = 83; // absent from the headers of older systems
    const int none = 0;
    ::setsockopt(socket, SOL_SOCKET, so_passrights, &none, sizeof none);
}

ssize_t receive_descriptor(int socket, std::size_t most_bytes, message_with_descriptor& message) {
    message.text.resize(most_bytes);
    iovec data{message.text.data(), message.text.size()};
    alignas(cmsghdr) std::array<char, control_bytes> space{};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = space.data();
    header.msg_controllen = space.size();
    ssize_t count = 0;
    do { // a sender that has closed its end with unread messages shows once, before its own messages
        count = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    } while (count < 0 && (errno == EINTR || errno == ECONNRESET));
    message.text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count >= 0) { // an empty message may bring descriptors as well
        message.descriptor = take_descriptor(header);
    }
    if (count > 0 && (header.msg_flags & MSG_TRUNC) != 0) {
        errno = EMSGSIZE;
        return -1;
    }
    if (count > 0 && (header.msg_flags & MSG_CTRUNC) != 0 && message.descriptor.get() < 0) {
        errno = EMFILE;
        return -1;
    }
    return count;
}

} // namespace skep
