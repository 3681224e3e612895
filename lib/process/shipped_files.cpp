// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/shipped_files.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <link.h>

namespace skep {

/// Defined in the program, as its build system sets them; see skep/abi.hpp.
namespace shipped {
extern const char sdk[] __attribute__((weak));
extern const char guard[] __attribute__((weak));
extern const char header[] __attribute__((weak));
} // namespace shipped

namespace {

namespace fs = std::filesystem;

/// A file that the library ships.
struct shipped_file {
    const char* under_prefix; ///< path in an installation
    const char* in_build;     ///< path for a program in a build tree, otherwise null
    const char* sign;         ///< suffix whose existence is checked
};

/// Returns the file of the library, or of the program if linked statically. The dynamic linker knows a
/// program only by the name of its invocation, an arbitrary text. The kernel knows the file.
fs::path own_file() {
    Dl_info info{};
    void* entry = nullptr;
    const bool found = ::dladdr1(reinterpret_cast<const void*>(&python_sdk_directory), &info, &entry,
                                 RTLD_DL_LINKMAP) != 0 &&
                       entry != nullptr;
    const char* const library = found ? static_cast<const link_map*>(entry)->l_name : "";
    std::error_code ec;
    return *library == '/' ? fs::canonical(library, ec) : fs::read_symlink("/proc/self/exe", ec);
}

/// Returns the installation prefix that contains `file`. Empty elsewhere: files beside a build tree, perhaps
/// in /tmp, may belong to anyone.
fs::path prefix_of(const fs::path& file) {
    const auto folder = file.parent_path().string();
    for (const std::string under_prefix : {"/bin", "/sbin", "/" SKEP_LIBRARIES_UNDER_PREFIX}) {
        if (folder.ends_with(under_prefix)) {
            return folder.substr(0, folder.size() - under_prefix.size());
        }
    }
    return {};
}

/// PREFIX/include/skep/abi.hpp, as seen by the program's compiler.
fs::path prefix_of_header() {
    return shipped::header == nullptr ? fs::path()
                                      : fs::path(shipped::header).parent_path().parent_path().parent_path();
}

std::optional<std::string> variable(const char* name, const fs::path& directory) {
    const char* const value = ::secure_getenv(name);
    if (value == nullptr) {
        return std::nullopt;
    }
    return *value == '\0' ? std::string() : (directory / value).string();
}

std::string find(const shipped_file& file) {
    for (const auto& place :
         {prefix_of(own_file()) / file.under_prefix, prefix_of_header() / file.under_prefix,
          fs::path(file.in_build == nullptr ? "" : file.in_build)}) {
        std::error_code ec;
        const bool is_ours = place.is_absolute(); // excludes files that happen to be in the working directory
        if (is_ours && fs::exists(place.string() + file.sign, ec)) {
            return place.string();
        }
    }
    return {};
}

} // namespace

shipped_choice take_shipped_choice(const fs::path& directory) {
    return {variable("SKEP_PYTHON_SDK", directory), variable("SKEP_GUARD", directory)};
}

std::string python_sdk_directory(const shipped_choice& choice) {
    return choice.sdk ? *choice.sdk : find({SKEP_SDK_UNDER_PREFIX, shipped::sdk, "/skep/__init__.py"});
}

std::string guard_program(const shipped_choice& choice) {
    return choice.guard ? *choice.guard : find({SKEP_GUARD_UNDER_PREFIX, shipped::guard, ""});
}

} // namespace skep
