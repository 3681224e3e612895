// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>
#include <skep/time.hpp>

#include <cstddef>
#include <deque>

namespace skep {

/// The slots whose turn in a launch is to come. A batch is due when the batch before is up, or after
/// batch_delay.
class launch_queue {
public:
    template <class Slots>
    void begin(const Slots& slots) {
        waiting_.assign(slots.begin(), slots.end());
        batch_due_ = {};
    }

    bool empty() const noexcept { return waiting_.empty(); }
    bool is_due(std::size_t starting_count, time_point now) const noexcept {
        return !empty() && (starting_count == 0 || now >= batch_due_);
    }

    std::size_t take() noexcept {
        const auto next = waiting_.front();
        waiting_.pop_front();
        return next;
    }
    void batch_done(time_point now, const start_options& options) noexcept {
        batch_due_ = now + options.batch_delay;
    }

    /// Returns when the next batch is due, at the latest.
    time_point next() const noexcept { return empty() ? time_point::max() : batch_due_; }

private:
    std::deque<std::size_t> waiting_;
    time_point batch_due_;
};

} // namespace skep
