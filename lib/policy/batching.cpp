// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/batching.hpp"

#include <algorithm>
#include <array>

namespace skep {

namespace {

constexpr int most_vain_holds = 7; // then every 128th batch is held back

// Of exponentially distributed gaps, 1 in 60 is longer than this many medians.
constexpr int gaps_to_wait = 6;

constexpr duration shortest_gap = std::chrono::microseconds(1);

} // namespace

batch_limits limits_of(const pool_config& config, const std::string& command, batch_limits of_script) {
    const auto found = config.commands.find(command);
    if (found == config.commands.end()) {
        return of_script;
    }
    return {found->second.batch.value_or(of_script.most), found->second.batch_wait.value_or(of_script.wait)};
}

/// A gap moves the estimate by an eighth, however long it is: pauses between bursts do not count much.
void batch_history::arrived(time_point now) noexcept {
    const auto gap = std::max<duration>(now - last_arrival_, shortest_gap);
    const bool is_first = last_arrival_ == time_point();
    last_arrival_ = now;
    if (!is_first) {
        gap_ = gap_ == duration::zero() ? gap : gap > gap_ ? gap_ + gap_ / 8 : gap_ - gap_ / 8;
        gap_ = std::max(gap_, shortest_gap);
    }
    has_more_since_hold_ |= is_holding_ && !has_answer_since_hold_;
}

void batch_history::held() noexcept {
    if (!is_holding_) {
        is_holding_ = true;
        has_more_since_hold_ = has_answer_since_hold_ = false;
    }
}

void batch_history::formed(std::size_t calls) noexcept {
    last_size_ = calls;
    if (!is_holding_) {
        vain_left_ -= vain_left_ > 0 ? 1 : 0;
        return;
    }
    is_holding_ = false;
    vain_holds_ = has_more_since_hold_ ? 0 : std::min(vain_holds_ + 1, most_vain_holds);
    vain_left_ = (std::size_t(1) << vain_holds_) - 1;
}

void batch_history::ran(duration time) noexcept {
    run_time_ = run_time_ == duration::zero() ? time : run_time_ + (time - run_time_) / 8;
}

bool batch_history::is_short() const noexcept {
    return run_time_ > duration::zero() && run_time_ < pipelining::patience_for_batches;
}

time_point batch_history::next_expected() const noexcept {
    return gap_ == duration::zero() ? time_point::max() : last_arrival_ + gaps_to_wait * gap_;
}

time_point time_to_send(const batch_outlook& next, const batch_history& past) noexcept {
    constexpr auto now = time_point::min();
    const bool is_full = next.calls >= next.limits.most;
    if (!next.has_place) {
        return is_full && past.is_short() ? now : time_point::max();
    }
    if (is_full || next.limits.wait == duration::zero() || !past.may_more_come()) {
        return now;
    }
    auto until = std::min(next.oldest + next.limits.wait, past.next_expected());
    if (next.deadline != time_point::max()) {
        until = std::min(until, next.deadline - 2 * past.run_time());
    }
    return until;
}

} // namespace skep
