// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/descriptors.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace skep {

/// The most descriptors of a message.
inline constexpr std::size_t most_passed_descriptors = 7;

/// Sends `text` with copies of the descriptors over a socket, without blocking. Returns the number of bytes,
/// or -1 with errno set.
ssize_t send_descriptors(int socket, std::string_view text, std::span<const int> descriptors) noexcept;

/// Makes the kernel refuse all descriptors that the peer passes to the socket: the peer's send fails with
/// EPERM. Linux before 6.16 passes them on, and recv() drops them. A dropped socket may then hold up the
/// reader until it has sent its data (SO_LINGER).
void refuse_descriptors(int socket) noexcept;

/// A message with at most one descriptor.
struct message_with_descriptor {
    std::string text;
    unique_fd descriptor;
};

/// Receives a message of at most `most_bytes` bytes from a socket for whole messages, without blocking.
/// Closes surplus descriptors. Returns the number of bytes, 0 at the end of the stream, or -1 with errno set:
/// EMSGSIZE for a longer message, EMFILE if this process has no room for the descriptor.
ssize_t receive_descriptor(int socket, std::size_t most_bytes, message_with_descriptor& message);

} // namespace skep
