// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>

#include <string>
#include <utility>

namespace skep {

/// Returns the info of an error with one sentence beyond its code.
inline error_info with_detail(std::string detail) {
    error_info info;
    info.detail = std::move(detail);
    return info;
}

} // namespace skep
