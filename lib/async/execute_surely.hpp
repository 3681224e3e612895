// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <new>
#include <utility>

namespace skep {

/// Has `executor` run `function`, where there is no way to go on without. Asio takes the memory for that before it takes
/// the function: an attempt that fails for lack of memory may be made again, once; what that throws is thrown.
template <class Executor, class Function>
void execute_surely(const Executor& executor, Function&& function) {
    try {
        executor.execute(std::move(function));
    } catch (const std::bad_alloc&) {
        executor.execute(std::move(function));
    }
}

} // namespace skep
