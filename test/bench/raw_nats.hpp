// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support.hpp"

namespace skep::bench {

// Plain cnats, without skep: messages to a program that sends each back.

/// url=, asap=0 or 1: sends messages back until SIGTERM. With asap=0, cnats collects messages for 1 ms.
figures serve_raw_echo(const arguments& args);

/// form=request or inbox, span=: p50 of a message there and back in microseconds, one at a time, and the CPU
/// time of each process for it.
figures measure_raw_strict(const arguments& args);

/// depth=, span=, asap=0 or 1: answers per second with so many messages under way, and the CPU time in
/// microseconds that each process takes for one.
figures measure_raw_deep(const arguments& args);

} // namespace skep::bench
