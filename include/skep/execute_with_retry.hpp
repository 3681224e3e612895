// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <new>
#include <type_traits>
#include <utility>

namespace skep {

/// Executes `function` on `executor`, and tries once more after std::bad_alloc. For functions that must run.
/// A strand allocates before it moves the function, so a second attempt is possible. A type-erased executor
/// may have moved the function before the failure: `function` must do nothing after a move.
/// Throws the exception of the second attempt.
template <class Executor, class Function>
void execute_with_retry(const Executor& executor, Function&& function) {
    static_assert(!std::is_lvalue_reference_v<Function>, "what is left of it is of no use");
    try {
        executor.execute(std::move(function));
    } catch (const std::bad_alloc&) {
        executor.execute(std::move(function));
    }
}

} // namespace skep
