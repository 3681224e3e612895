// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <new>
#include <type_traits>
#include <utility>

namespace skep {

/// Has `executor` run `function`, where there is no way to go on without. A strand takes the memory for that before it takes
/// the function: an attempt that fails for lack of memory may be made again, once; what that throws is thrown. An executor
/// whose type is erased may have taken it already, and is given what is left: `function` must then do nothing.
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
