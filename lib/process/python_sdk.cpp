// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/python_sdk.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace skep {

namespace {

namespace fs = std::filesystem;

/// The installation prefix as seen from the loaded library (or program): it stands in PREFIX/lib[/ARCH] or
/// PREFIX/bin.
fs::path beside_this_library(int levels_up) {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void*>(&python_sdk_directory), &info) == 0 ||
        info.dli_fname == nullptr) {
        return {};
    }
    std::error_code ec;
    auto folder = fs::canonical(info.dli_fname, ec).parent_path();
    for (int i = 0; i < levels_up; ++i) {
        folder = folder.parent_path();
    }
    return folder / "share" / "skep" / "python";
}

} // namespace

std::string python_sdk_directory() {
    if (const char* chosen = std::getenv("SKEP_PYTHON_SDK")) {
        return chosen;
    }
    for (const auto& folder : {beside_this_library(1), beside_this_library(2), fs::path(SKEP_SDK_SOURCE_DIR),
                               fs::path(SKEP_SDK_INSTALL_DIR)}) {
        std::error_code ec;
        if (fs::exists(folder / "skep" / "__init__.py", ec)) {
            return folder.string();
        }
    }
    return {};
}

} // namespace skep
