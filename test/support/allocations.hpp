// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <exception>

namespace skep::test {

/// Calls of operator new by this thread. Only in the unit tests, whose out_of_memory_test.cpp replaces it.
extern thread_local std::size_t allocations_made;

/// The same, less its calls of operator delete.
extern thread_local std::ptrdiff_t allocations_left;

/// The next calls of operator new by this thread up to the one that fails; 0: all succeed.
extern thread_local std::size_t allocations_to_failure;

/// Lets the nth call of operator new in `function` fail. Returns false if there were fewer.
template <class Function>
bool fails_at(std::size_t nth, Function&& function) {
    allocations_to_failure = nth;
    try {
        function();
    } catch (const std::exception&) {} // with or without a failure that was told
    const bool has_failed = allocations_to_failure == 0;
    allocations_to_failure = 0;
    return has_failed;
}

/// How many of them `function` makes.
template <class Function>
std::size_t allocations_in(Function&& function) {
    const auto before = allocations_made;
    function();
    return allocations_made - before;
}

} // namespace skep::test
