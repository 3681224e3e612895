// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>
#include <vector>

namespace skep {

/// Returns the objections to a fork of this process, each with a remedy: threads, GPUs, event polls, and
/// sockets besides stdin, stdout, stderr and `own`. Waits up to 500 ms for threads that are about to end.
std::vector<std::string> fork_objections(int own);

} // namespace skep
