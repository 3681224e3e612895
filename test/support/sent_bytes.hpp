// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "wire/send_buffer.hpp"

#include <string>

namespace skep::test {

/// What goes over the wire.
inline std::string sent_bytes(send_buffer& from) {
    std::string bytes;
    while (!from.empty()) {
        const auto front = from.front();
        bytes.append(front.data(), front.size());
        from.pop(front.size());
    }
    return bytes;
}

} // namespace skep::test
