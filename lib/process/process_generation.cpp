// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/process_generation.hpp"

#include <pthread.h>

namespace skep {

std::atomic<unsigned> detail::process_generation = 1;

namespace {

/// If registration fails for lack of memory, a copy is taken for the process itself.
[[maybe_unused]] const int registration = ::pthread_atfork(
    nullptr, nullptr, [] { detail::process_generation.fetch_add(1, std::memory_order_relaxed); });

} // namespace

} // namespace skep
