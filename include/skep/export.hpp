// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// What is exported, and which compilers and settings the library can be used with as far as Asio is not concerned; abi.hpp
/// has the rest.

#pragma once

#if __cplusplus < 202002L || !defined(__cpp_impl_coroutine)
#error "skep needs C++20 with coroutines: compile with -std=c++20 or later"
#endif
#if !defined(__cpp_exceptions)
#error "skep reports failures as exceptions: compile without -fno-exceptions"
#endif

#include <version> // _GLIBCXX_DEBUG is defined by then, if at all

/// Marks what the shared library exports; everything else in it is hidden.
#if defined(SKEP_STATIC_DEFINE)
#define SKEP_API
#else
#define SKEP_API __attribute__((visibility("default")))
#endif

// Some settings change the layout of what a program and the library share. A program that was compiled with others would
// hang, print nothing or crash; it is refused by the linker instead: each of its object files wants a symbol that is
// named for the setting, and the library has those that it was built with itself.
#if defined(_GLIBCXX_DEBUG)
#define SKEP_SETTING_CONTAINERS debug_containers
#else
#define SKEP_SETTING_CONTAINERS plain_containers
#endif

namespace skep::built_with {

SKEP_API extern const char SKEP_SETTING_CONTAINERS;
[[gnu::used, gnu::retain]] static const char* const wanted_containers = &SKEP_SETTING_CONTAINERS;

} // namespace skep::built_with
