// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "trouble.hpp"
#include <skep/pool_status.hpp>

#include <vector>

void print_incidents(const std::vector<incident>& incidents);

/// Prints the stacks of workers that hung in a call.
void print_stacks(const std::vector<incident>& incidents);

void print_counters(const skep::pool_counters& counters);

/// Returns true if the counters of an idle pool account for every call and every worker.
bool adds_up(const skep::pool_status& status);
