// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/error_streaks.hpp"

#include <algorithm>

namespace skep {

namespace {

// The most windows, one per command and slot. Callers choose the names of commands: beyond the limit, all
// tallies are cleared.
constexpr std::size_t most_windows = 1'000'000;

// The calls in a window that judges a worker: a multiple of the limit, and a least number.
constexpr std::uint64_t limits_in_window = 16;
constexpr std::uint64_t shortest_window = 128;

// The successes, in multiples of the limit, that clear a suspicion and a conviction.
constexpr std::uint64_t to_clear = 10;
constexpr std::uint64_t to_rehabilitate = 50;

// Chance explains a difference within this many standard deviations.
constexpr double deviations = 4;

// This multiple of the failures that siblings would have had counts as many more.
constexpr double many_more = 1.5;

} // namespace

error_streaks::error_streaks(std::size_t limit) noexcept
    : limit_(limit), span_(std::max(shortest_window, limits_in_window * limit)) {}

error_streaks::tally& error_streaks::tally_of(const std::string& command) {
    const auto found = tallies_.find(command);
    if (found != tallies_.end()) {
        return found->second;
    }
    if ((tallies_.size() + 1) * std::max<std::size_t>(slots_.size(), 1000) > most_windows) {
        tallies_.clear();
    }
    return tallies_[command];
}

error_streaks::window& error_streaks::window_of(tally& all, std::uint32_t slot) {
    if (slot >= all.windows.size()) {
        all.windows.resize(slot + 1);
    }
    return all.windows[slot];
}

error_streaks::slot_record& error_streaks::record_of(std::uint32_t slot) {
    if (slot >= slots_.size()) {
        slots_.resize(slot + 1);
    }
    return slots_[slot];
}

void error_streaks::started(std::uint32_t slot) {
    record_of(slot).failures = 0;
    begin_windows(slot);
}

void error_streaks::begin_windows(std::uint32_t slot) noexcept {
    for (auto& [command, each] : tallies_) {
        if (slot < each.windows.size()) {
            each.windows[slot] = {};
        }
    }
}

error_streaks::window& error_streaks::count_call(tally& all, std::uint32_t slot) const {
    auto& window = window_of(all, slot);
    if (window.own.calls == 0 || window.own.calls >= span_) {
        window = {{}, all.total, window.row};
    }
    ++all.total.calls;
    ++window.own.calls;
    return window;
}

void error_streaks::succeeded(std::uint32_t slot, const std::string& command) {
    if (limit_ == 0) {
        return;
    }
    count_call(tally_of(command), slot).row = 0;
    auto& record = record_of(slot);
    if (record.marked != mark::none) {
        const auto enough = record.marked == mark::suspected ? to_clear : to_rehabilitate;
        record.marked = ++record.successes >= enough * limit_ ? mark::none : record.marked;
    }
}

streak_verdict error_streaks::failed(std::uint32_t slot, const std::string& command) {
    if (limit_ == 0) {
        return streak_verdict::none;
    }
    auto& all = tally_of(command);
    auto& window = count_call(all, slot);
    ++all.total.failures;
    ++window.own.failures;
    ++window.row;
    auto& record = record_of(slot);
    const auto of_row = window.row % limit_ == 0 ? streak_verdict::streak : streak_verdict::none;
    const bool is_looked_into = ++record.failures % limit_ == 0 && record.marked != mark::convicted;
    if (!is_looked_into || !does_much_worse(slot)) {
        return of_row;
    }
    const bool is_first = record.marked == mark::none;
    record = {0, 0, is_first ? mark::suspected : mark::convicted};
    begin_windows(slot);
    return is_first ? streak_verdict::suspect : streak_verdict::convict;
}

/// Returns true if the worker fails many more calls than its siblings would fail of the same commands, and
/// more than chance explains. The estimate grants the siblings two more calls, one of them failed, so that
/// few calls prove little.
bool error_streaks::does_much_worse(std::uint32_t slot) const noexcept {
    double failures = 0;
    double expected = 0;
    double variance = 1;
    double siblings_calls = 0;
    for (const auto& [command, each] : tallies_) {
        if (slot >= each.windows.size()) {
            continue;
        }
        const auto& window = each.windows[slot];
        const auto calls = static_cast<double>(window.own.calls);
        const auto others = static_cast<double>(each.total.calls - window.total_before.calls) - calls;
        if (calls == 0 || others == 0) {
            continue;
        }
        const auto failed = static_cast<double>(window.own.failures);
        const auto others_failed =
            static_cast<double>(each.total.failures - window.total_before.failures) - failed;
        const auto rate = (others_failed + 1) / (others + 2);
        failures += failed;
        expected += calls * rate;
        variance += calls * rate * (1 - rate) * (1 + calls / others);
        siblings_calls += others;
    }
    const auto excess = failures - expected;
    const auto least = static_cast<double>(limit_);
    return failures >= least && siblings_calls >= least && failures >= many_more * expected &&
           excess * excess > deviations * deviations * variance;
}

} // namespace skep
