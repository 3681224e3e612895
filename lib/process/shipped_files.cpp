// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/shipped_files.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace skep {

/// In the program, as its build system has it; see skep/abi.hpp.
namespace shipped {
extern const char sdk[] __attribute__((weak));
extern const char guard[] __attribute__((weak));
extern const char header[] __attribute__((weak));
} // namespace shipped

namespace {

namespace fs = std::filesystem;

/// One thing that is shipped.
struct shipped_file {
    const char* variable;     ///< of the environment, that names another one
    const char* under_prefix; ///< where it is in an installation
    const char* in_build;     ///< where it is for a program in a build tree, else null
    const char* sign;         ///< what its path is followed by where it exists
};

/// The file of the library, or the program if it is linked statically.
fs::path own_file() {
    Dl_info info{};
    std::error_code ec;
    const bool found = ::dladdr(reinterpret_cast<const void*>(&python_sdk_directory), &info) != 0 &&
                       info.dli_fname != nullptr && info.dli_fname[0] == '/';
    // A program may be known by the name alone that it was called by, which says nothing of where it is.
    return fs::canonical(found ? info.dli_fname : "/proc/self/exe", ec);
}

/// The prefix of an installation that `file` is in; empty if it is elsewhere: what lies beside a build tree, in /tmp
/// perhaps, is anybody's.
fs::path prefix_of(const fs::path& file) {
    const auto folder = file.parent_path().string();
    for (const std::string under_prefix : {"/bin", "/sbin", "/" SKEP_LIBRARIES_UNDER_PREFIX}) {
        if (folder.ends_with(under_prefix)) {
            return folder.substr(0, folder.size() - under_prefix.size());
        }
    }
    return {};
}

/// PREFIX/include/skep/abi.hpp, as the compiler of the program saw it.
fs::path prefix_of_header() {
    return shipped::header == nullptr ? fs::path()
                                      : fs::path(shipped::header).parent_path().parent_path().parent_path();
}

std::string find(const shipped_file& what) {
    if (const char* chosen = std::getenv(what.variable)) {
        return chosen;
    }
    for (const auto& place :
         {prefix_of(own_file()) / what.under_prefix, prefix_of_header() / what.under_prefix,
          fs::path(what.in_build == nullptr ? "" : what.in_build)}) {
        std::error_code ec;
        const bool is_ours = place.is_absolute(); // and not what happens to lie in the working directory
        if (is_ours && fs::exists(place.string() + what.sign, ec)) {
            return place.string();
        }
    }
    return {};
}

} // namespace

std::string python_sdk_directory() {
    return find({"SKEP_PYTHON_SDK", SKEP_SDK_UNDER_PREFIX, shipped::sdk, "/skep/__init__.py"});
}

std::string guard_program() {
    return find({"SKEP_GUARD", SKEP_GUARD_UNDER_PREFIX, shipped::guard, ""});
}

} // namespace skep
