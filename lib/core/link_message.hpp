// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>
#include <string_view>

namespace skep {

enum class link_kind : std::uint8_t {
    open = 1, ///< a client asks for a link; `body` is JSON
    accept,   ///< the node's consent; `body` is JSON
    refuse,   ///< the node's refusal; `body` is the reason
    data,     ///< the bytes of the stream from `position` on
    ack,      ///< acknowledges the bytes before `expected`
    beat,     ///< a sign of life; the receiver acknowledges it
    sync,     ///< asks for the stream from `expected` on
    sync_ack, ///< answers a sync; the stream follows
    close,    ///< the end of the link; `body` is the reason
};

/// The load of a node, as each message of the node tells it. The other fields of a client's messages are 0.
struct link_load {
    std::uint16_t calls = 0; ///< calls that run or wait
    std::uint16_t places = 0;
    bool is_draining = false;
    bool is_full = false; ///< would refuse another call

    friend bool operator==(const link_load&, const link_load&) noexcept = default;
};

/// One message of a link: see lib/remote/PROTOCOL.md.
struct link_message {
    link_kind kind = link_kind::data;
    link_load load = {};
    std::uint32_t window = 0;   ///< bytes that the sender takes unacknowledged
    std::uint64_t position = 0; ///< of the first byte in `data`; of the next byte to send in others
    std::uint64_t expected = 0; ///< position of the next byte that the sender has not received
    std::string_view body = {};
    std::uint16_t epoch = 0; ///< tells this end of the link from earlier ends of the same name
};

} // namespace skep
