// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string_view>

namespace skep {

/// Writes to the process's standard error without blocking, and without being killed for the write. Discards
/// the part that a full pipe does not accept; the number of such lines is written before the next line that
/// fits. Writes nothing if the program was started with standard error closed: the descriptor then belongs to
/// another file.
void write_to_standard_error(std::string_view line) noexcept;

} // namespace skep
