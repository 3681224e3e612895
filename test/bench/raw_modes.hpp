// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support.hpp"

namespace skep::bench {

// What a socketpair does without a worker of a pool at its other end.

/// bytes=: the median time in microseconds until a forked child has sent so many bytes back.
figures measure_socketpair(const arguments& args);

/// script=, python=, bytes=: the same with a Python program at the other end.
figures measure_python_echo(const arguments& args);

/// script=, python=, span=: tokens per second from a Python program, and the CPU time in microseconds that it
/// and this one take for each.
figures measure_python_tokens(const arguments& args);

} // namespace skep::bench
