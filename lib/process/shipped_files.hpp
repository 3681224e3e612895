// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace skep {

// What belongs to this library and is found at run time: where an environment variable says, else under the prefix that
// the library (if linked statically, the program) is installed in, else under that of the headers that the program was
// compiled with, or in their build tree.

/// What the host's environment names instead.
struct shipped_choice {
    std::optional<std::string> sdk;   ///< SKEP_PYTHON_SDK
    std::optional<std::string> guard; ///< SKEP_GUARD
};

/// Reads the two variables; relative paths count from `directory`. A program that runs with more rights than its caller,
/// a setuid program say, takes neither. For the thread that makes a pool.
shipped_choice take_shipped_choice(const std::filesystem::path& directory);

/// The folder to put on PYTHONPATH so that workers can `import skep`. Empty if there is none.
std::string python_sdk_directory(const shipped_choice& choice);

/// The program that guard runs. Empty if there is none.
std::string guard_program(const shipped_choice& choice);

} // namespace skep
