// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>

namespace skep::test {

/// Calls of operator new by this thread. Only in the unit tests, whose out_of_memory_test.cpp replaces it.
extern thread_local std::size_t allocations_made;

/// The same, less its calls of operator delete.
extern thread_local std::ptrdiff_t allocations_left;

/// How many of them `function` makes.
template <class Function>
std::size_t allocations_in(Function&& function) {
    const auto before = allocations_made;
    function();
    return allocations_made - before;
}

} // namespace skep::test
