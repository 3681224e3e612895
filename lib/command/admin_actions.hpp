// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The actions that talk to the admin port of a running service. Each returns the exit status of the program,
// and throws usage_error and service_unreachable.

#pragma once

#include <string>
#include <vector>

namespace skep {

/// Shows the pools and their workers once, and repeatedly.
int show_status(const std::vector<std::string>& words);
int show_top(const std::vector<std::string>& words);

/// Runs a command, and prints its result.
int make_call(const std::vector<std::string>& words);

/// Restarts, suspends or resumes pools and workers.
int restart(const std::vector<std::string>& words);
int suspend(const std::vector<std::string>& words);
int resume(const std::vector<std::string>& words);

/// Prints the stacks of workers.
int show_stacks(const std::vector<std::string>& words);

} // namespace skep
