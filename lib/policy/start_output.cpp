// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/start_output.hpp"

#include <chrono>
#include <utility>

namespace skep {

namespace {

constexpr duration memory_time = std::chrono::minutes(10);
constexpr std::size_t memory_bytes = 256u << 10;

// Limits for one worker. With more, its output is no longer compared.
constexpr std::size_t most_withheld_lines = 100;
constexpr std::size_t most_withheld_bytes = 16u << 10;

/// An upper bound of the memory for a line.
std::size_t cost_of(const std::string& text) noexcept {
    constexpr std::size_t overhead = 256;
    return overhead + text.size();
}

} // namespace

std::vector<start_output::line> start_output::take(const worker_id& printer, line new_line, time_point now) {
    forget_old(now);
    auto& mine = talks_[printer];
    if (!mine.is_compared) {
        auto due = take_withheld(mine);
        due.push_back(std::move(new_line));
        return due;
    }
    const auto [place, is_new] =
        nodes_.try_emplace(key(mine.last, new_line.is_stderr, new_line.text), node{printer});
    const bool is_further = is_shared_so_far(mine.last);
    if (mine.last != nullptr) {
        mine.last->is_continued = true;
    }
    mine.last = &place->second;
    if (!is_new) {
        mine.withheld_bytes += new_line.text.size();
        mine.withheld.push_back(std::move(new_line));
        mine.first = place->second.first;
        mine.is_compared =
            mine.withheld.size() <= most_withheld_lines && mine.withheld_bytes <= most_withheld_bytes;
        return mine.is_compared ? std::vector<line>() : take_withheld(mine);
    }
    if (nodes_.size() == 1) {
        oldest_ = now;
    }
    bytes_ += cost_of(new_line.text);
    auto due = is_further ? std::vector<line>() : take_withheld(mine);
    due.push_back(std::move(new_line));
    return due;
}

/// Returns true if no line after `last` is known, and a starting worker has printed `last` first: the next
/// line of its text may come from any of the workers that print this text at the same time.
bool start_output::is_shared_so_far(const node* last) const {
    return last != nullptr && !last->is_continued && talks_.contains(last->first);
}

std::vector<start_output::line> start_output::release(const worker_id& printer) {
    const auto found = talks_.find(printer);
    if (found == talks_.end()) {
        return {};
    }
    auto due = take_withheld(found->second);
    talks_.erase(found);
    return due;
}

std::optional<start_output::repetition> start_output::drop(const worker_id& printer) {
    const auto found = talks_.find(printer);
    if (found == talks_.end()) {
        return std::nullopt;
    }
    const auto ended = std::move(found->second);
    talks_.erase(found);
    return ended.withheld.empty() ? std::nullopt
                                  : std::optional(repetition{ended.withheld.size(), ended.first});
}

std::vector<start_output::line> start_output::take_withheld(talk& of_worker) {
    of_worker.withheld_bytes = 0;
    return std::exchange(of_worker.withheld, {});
}

/// Workers that are printing meanwhile are no longer compared.
void start_output::forget_old(time_point now) {
    if (nodes_.empty() || (now - oldest_ < memory_time && bytes_ < memory_bytes)) {
        return;
    }
    nodes_.clear();
    bytes_ = 0;
    for (auto& [id, each] : talks_) {
        each.last = nullptr;
        each.is_compared = false;
    }
}

} // namespace skep
