// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <filesystem>

namespace skep::test {

/// Changes the working directory of this process, and changes it back when destroyed.
class working_directory {
public:
    explicit working_directory(const std::filesystem::path& path) { std::filesystem::current_path(path); }
    ~working_directory() { std::filesystem::current_path(before_); }
    working_directory(const working_directory&) = delete;
    working_directory& operator=(const working_directory&) = delete;

private:
    std::filesystem::path before_ = std::filesystem::current_path();
};

} // namespace skep::test
