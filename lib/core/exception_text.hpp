// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <exception>
#include <string>

namespace skep {

/// What an exception says of itself; never empty.
inline std::string text_of(const std::exception_ptr& problem) {
    try {
        std::rethrow_exception(problem);
    } catch (const std::exception& e) {
        return *e.what() != '\0' ? e.what() : "an exception without a message";
    } catch (...) {
        return "unknown exception";
    }
}

} // namespace skep
