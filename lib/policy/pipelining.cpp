// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/pipelining.hpp"

namespace skep {

namespace {

constexpr duration fast_enough = std::chrono::microseconds(50);

// Callers may choose arbitrary command names. Beyond this number, all commands are learned anew.
constexpr std::size_t most_commands = 256;

constexpr int weight = 16; // of the past against the last call, less one

} // namespace

void pipelining::record(const std::string& command, duration run_time) {
    const auto known = run_times_.find(command);
    if (known != run_times_.end()) {
        known->second += (run_time - known->second) / weight;
        return;
    }
    if (run_times_.size() == most_commands) {
        run_times_.clear();
    }
    run_times_.emplace(command, run_time);
}

pace pipelining::pace_of(const std::string& command) const noexcept {
    const auto known = run_times_.find(command);
    return known == run_times_.end() || known->second >= patience ? pace::slow
           : known->second >= fast_enough                         ? pace::brisk
                                                                  : pace::fast;
}

} // namespace skep
