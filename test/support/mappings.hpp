// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>

namespace skep::test {

/// Returns the number of mappings of this process whose name contains `name`.
inline std::size_t mappings_of(std::string_view name) {
    std::ifstream maps("/proc/self/maps");
    std::size_t count = 0;
    for (std::string line; std::getline(maps, line);) {
        count += line.find(name) != std::string::npos ? 1 : 0;
    }
    return count;
}

} // namespace skep::test
