// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/folder_watch.hpp"

namespace skep {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_files = 10'000;

bool is_ignored(const fs::path& path) {
    const auto name = path.filename().string();
    return name.starts_with('.') || name == "__pycache__" || name == "node_modules";
}

void add_files(const fs::path& folder, file_times& files) {
    std::error_code ec;
    fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, ec);
    while (!ec && entry != fs::recursive_directory_iterator() && files.size() < most_files) {
        std::error_code gone; // meanwhile
        if (is_ignored(entry->path())) {
            entry.disable_recursion_pending();
        } else if (entry->path().extension() == ".py" && entry->is_regular_file(gone)) {
            const auto time = entry->last_write_time(gone);
            if (!gone) {
                files.emplace(entry->path().string(), time);
            }
        }
        entry.increment(ec);
    }
}

} // namespace

file_times list_files(const std::set<fs::path>& folders, const fs::path& configuration) {
    file_times files;
    for (const auto& each : folders) {
        add_files(each, files);
    }
    std::error_code gone;
    const auto time = fs::last_write_time(configuration, gone);
    if (!gone) {
        files.emplace(configuration.string(), time);
    }
    return files;
}

std::vector<std::string> changed_files(const file_times& before, const file_times& after) {
    std::vector<std::string> changed;
    for (const auto& [path, time] : after) {
        const auto known = before.find(path);
        if (known == before.end() || known->second != time) {
            changed.push_back(path);
        }
    }
    for (const auto& [path, time] : before) {
        if (!after.contains(path)) {
            changed.push_back(path);
        }
    }
    return changed;
}

} // namespace skep
