// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Changes of files, found by looking at their times.

#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace skep {

/// Files with the times of their last changes.
using file_times = std::map<std::string, std::filesystem::file_time_type>;

/// Returns the configuration file, and the regular files *.py in the folders and in folders below, at most
/// 10,000. Other files may be logs and caches of workers. Leaves out hidden files and folders, and folders
/// that programs write: __pycache__ and node_modules. Folders that cannot be read are empty.
file_times list_files(const std::set<std::filesystem::path>& folders,
                      const std::filesystem::path& configuration);

/// Returns the files that are new, changed or gone, in order.
std::vector<std::string> changed_files(const file_times& before, const file_times& after);

} // namespace skep
