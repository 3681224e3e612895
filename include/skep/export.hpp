// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// Exports of the library, and checks of compiler and settings. Settings of Asio: see abi.hpp.

#pragma once

#if __cplusplus < 202002L || !defined(__cpp_impl_coroutine)
#error "skep needs C++20 with coroutines: compile with -std=c++20 or later"
#endif
#if !defined(__cpp_exceptions)
#error "skep reports failures as exceptions: compile without -fno-exceptions"
#endif

#include <version> // from here on _GLIBCXX_DEBUG is defined, if at all

/// Marks the exported symbols of the shared library. All other symbols are hidden.
#if defined(SKEP_STATIC_DEFINE)
#define SKEP_API
#else
#define SKEP_API __attribute__((visibility("default")))
#endif

// Some settings change the layout of types that program and library share. With different settings the
// program would hang, print nothing or crash. The linker rejects such a program: each of its object files
// needs a symbol named after the setting, and the library defines only the symbols of its own settings.
#if defined(_GLIBCXX_DEBUG)
#define SKEP_SETTING_CONTAINERS debug_containers
#else
#define SKEP_SETTING_CONTAINERS plain_containers
#endif

namespace skep::built_with {

SKEP_API extern const char SKEP_SETTING_CONTAINERS;
[[gnu::used, gnu::retain]] static const char* const wanted_containers = &SKEP_SETTING_CONTAINERS;

} // namespace skep::built_with
