// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>

namespace skep {

/// The folder to put on PYTHONPATH so that workers can `import skep`: $SKEP_PYTHON_SDK if set, else the one
/// that belongs to this library, in its build tree or installed. Empty if there is none.
std::string python_sdk_directory();

} // namespace skep
