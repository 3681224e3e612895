// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <malloc.h>

// Present in a sanitizer's runtime only, and mallinfo2 tells nothing there.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes() __attribute__((weak));

namespace skep::test {

/// Returns the bytes of the heap that are in use.
inline std::size_t allocated_bytes() {
    if (__sanitizer_get_current_allocated_bytes != nullptr) {
        return __sanitizer_get_current_allocated_bytes();
    }
    const auto info = ::mallinfo2();
    return info.uordblks + info.hblkhd;
}

} // namespace skep::test
