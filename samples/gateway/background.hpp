// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <exception>
#include <iostream>

namespace gateway {

/// The completion handler of coroutines in the background: prints a failure, so that no failure is lost.
inline void report_failure(const std::exception_ptr& problem) {
    if (!problem) {
        return;
    }
    try {
        std::rethrow_exception(problem);
    } catch (const std::exception& failure) {
        std::cerr << "gateway: " << failure.what() << '\n';
    }
}

} // namespace gateway
