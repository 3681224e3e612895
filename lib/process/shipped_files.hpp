// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace skep {

// Files of this library found at run time. Search order: the environment variable; the installation prefix of
// the library or, if linked statically, of the program; the prefix or the build tree of the headers that the
// program was compiled with.

/// Locations named in the host's environment.
struct shipped_choice {
    std::optional<std::string> sdk;   ///< SKEP_PYTHON_SDK
    std::optional<std::string> guard; ///< SKEP_GUARD
};

/// Reads the two variables; relative paths start at `directory`. A program with more privileges than its
/// caller, such as a setuid program, ignores both variables. Called on the thread that creates a pool.
shipped_choice take_shipped_choice(const std::filesystem::path& directory);

/// Returns the folder for PYTHONPATH that enables workers to `import skep`. Empty if not found.
std::string python_sdk_directory(const shipped_choice& choice);

/// Returns the program that the guard runs. Empty if not found.
std::string guard_program(const shipped_choice& choice);

} // namespace skep
