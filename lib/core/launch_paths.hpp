// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/launch_options.hpp>

#include <filesystem>

namespace skep {

/// Lets relative paths count from `folder`: the working directory, which becomes `folder` if none is set, and
/// the program or, before it, the prefix, if that is a path. Words of `args` count from the working
/// directory. Changes nothing if `folder` is empty.
void count_paths_from(const std::filesystem::path& folder, launch_options& launch);

} // namespace skep
