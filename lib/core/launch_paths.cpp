// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/launch_paths.hpp"

namespace skep {

void count_paths_from(const std::filesystem::path& folder, launch_options& launch) {
    if (folder.empty()) {
        return;
    }
    auto& started = launch.prefix.empty() ? launch.program : launch.prefix.front();
    if (started.find('/') != std::string::npos) {
        started = (folder / started).string(); // an absolute path stays
    }
    auto& directory = launch.working_directory;
    directory = directory.empty() ? folder : folder / directory;
}

} // namespace skep
