// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/error_streaks.hpp"

namespace skep {

namespace {

// Names come from outside: of commands from callers, of kinds from workers. Beyond so many, all is begun anew.
constexpr std::size_t most_commands = 1000;
constexpr std::size_t most_kinds = 100;

// So many times the limit has to be answered well until a conviction is forgotten.
constexpr std::uint64_t rehabilitation = 50;

} // namespace

error_streaks::tally& error_streaks::tally_of(const std::string& command) {
    const auto found = tallies_.find(command);
    if (found != tallies_.end()) {
        return found->second;
    }
    if (tallies_.size() >= most_commands) {
        tallies_.clear();
        for (auto& each : slots_) {
            each.streaks.clear();
        }
    }
    return tallies_[command];
}

error_streaks::slot_record& error_streaks::record_of(std::uint32_t slot) {
    if (slot >= slots_.size()) {
        slots_.resize(slot + 1);
    }
    return slots_[slot];
}

void error_streaks::started(std::uint32_t slot) {
    record_of(slot).streaks.clear();
}

void error_streaks::succeeded(std::uint32_t slot, const std::string& command) {
    if (limit_ == 0) {
        return;
    }
    ++tally_of(command).successes;
    auto& record = record_of(slot);
    if (!record.streaks.empty()) {
        record.streaks.erase(command);
    }
    if (!record.convicted_of.empty() && ++record.answers_since >= rehabilitation * limit_) {
        record.convicted_of.clear();
    }
}

bool error_streaks::failed(std::uint32_t slot, const std::string& command, const std::string& kind) {
    if (limit_ == 0) {
        return false;
    }
    auto& all = tally_of(command);
    if (all.failures.size() >= most_kinds) {
        all.failures.clear();
    }
    auto& failures = all.failures[kind];
    auto& mine = record_of(slot).streaks[command];
    if (mine.kind != kind || failures < mine.failures_before) {
        mine = {kind, 0, all.successes, failures};
    }
    ++failures;
    ++mine.length;
    return mine.length % limit_ == 0;
}

bool error_streaks::convicts(std::uint32_t slot, const std::string& command) {
    auto& record = record_of(slot);
    const auto found = record.streaks.find(command);
    if (found == record.streaks.end() || found->second.length < limit_) {
        return false;
    }
    auto& mine = found->second;
    auto& all = tally_of(command);
    const auto failures = all.failures[mine.kind];
    if (failures - mine.failures_before != mine.length) {
        mine = {mine.kind, 0, all.successes, failures};
        return false;
    }
    const bool siblings_succeed = all.successes - mine.successes_before >= limit_;
    if (!siblings_succeed || record.convicted_of == mine.kind) {
        return false;
    }
    record.convicted_of = mine.kind;
    record.answers_since = 0;
    return true;
}

} // namespace skep
