// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>

namespace skep {

// What belongs to this library and is found at run time: where an environment variable says, else under the prefix that
// the library (if linked statically, the program) is installed in, else under that of the headers that the program was
// compiled with, or in their build tree.

/// The folder to put on PYTHONPATH so that workers can `import skep`; SKEP_PYTHON_SDK names another. Empty if there
/// is none.
std::string python_sdk_directory();

/// The program that guard runs; SKEP_GUARD names another. Empty if there is none.
std::string guard_program();

} // namespace skep
