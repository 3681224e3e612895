// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string_view>

namespace skep {

/// Writes to the process's standard error without ever waiting or being killed for it: what a full pipe does not take
/// is left out, and how many such lines there were is told before the next one that fits. Nothing is written if the
/// program was started with standard error closed, for the descriptor is another file's then.
void write_to_standard_error(std::string_view line) noexcept;

} // namespace skep
