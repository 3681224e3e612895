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
    if (auto* const known = find(command)) {
        known->second += (run_time - known->second) / weight;
        return;
    }
    if (run_times_.size() == most_commands) {
        run_times_.clear();
        last_ = nullptr;
    }
    run_times_.emplace(command, run_time);
}

pace pipelining::pace_of(const std::string& command) noexcept {
    const auto* const known = find(command);
    return known == nullptr || known->second >= patience ? pace::slow
           : known->second >= fast_enough                ? pace::brisk
                                                         : pace::fast;
}

pipelining::entry* pipelining::find(const std::string& command) noexcept {
    if (last_ == nullptr || last_->first != command) {
        const auto found = run_times_.find(command);
        last_ = found == run_times_.end() ? nullptr : &*found;
    }
    return last_;
}

} // namespace skep
