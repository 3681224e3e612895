// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/recovery.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace skep {

class worker;

// Facts that a worker announces.

struct came_up {};

/// The worker may now accept or refuse calls: the worker has taken sent data, or its health or suspension has
/// changed.
struct room_changed {};

/// The worker failed, and the pool reacts.
struct went_wrong {
    departure_cause cause;
    recovery_action action;
    std::string detail;
};

/// The worker has answered its full number of calls.
struct used_up {};

struct condition_changed {
    enum class change {
        suspended,
        resumed,
        restored ///< the worker passed its health check
    };
    change kind;
};

struct pings_missed {
    int count; ///< since the last announcement
    std::uint64_t total;
};

/// The worker takes no more calls, for any reason. Announced once.
struct left_service {};

/// The worker has lost calls; see worker_calls::take_lost.
struct calls_lost {};

/// The process and all its resources are gone. The last fact.
struct ended {};

struct worker_event {
    std::shared_ptr<worker> subject;
    std::variant<came_up, room_changed, went_wrong, used_up, condition_changed, pings_missed, left_service,
                 calls_lost, ended>
        fact;
};

/// Events not yet applied. Workers append events in the middle of their work; the pool takes all events
/// afterwards.
class event_queue {
public:
    /// `wake` schedules `apply`, which takes the events and acts on them. `wake` may fail: every user of the
    /// pool calls catch_up() first.
    event_queue(std::function<void()> wake, std::function<void()> apply)
        : wake_(std::move(wake)), apply_(std::move(apply)) {}

    /// Reserves room for the events of one more worker, so that append() does not fail.
    void expect_worker() {
        constexpr std::size_t per_worker = 14;
        events_.reserve(events_.size() + per_worker * ++workers_);
    }
    void forget_worker() noexcept { --workers_; }

    void append(worker_event event) {
        const bool was_empty = empty();
        if (events_.size() == events_.capacity()) {
            drop_taken();
        }
        events_.push_back(std::move(event));
        if (was_empty) {
            wake_();
        }
    }

    /// Applies all events. Not called by a worker.
    void catch_up() {
        if (!empty()) {
            apply_();
        }
    }

    bool empty() const noexcept { return next_ == events_.size(); }

    /// Takes the oldest event, if any. While acting on an event, the owner may append further events and take
    /// them.
    std::optional<worker_event> next() noexcept {
        if (empty()) {
            drop_taken();
            return {};
        }
        return std::move(events_[next_++]);
    }

private:
    void drop_taken() noexcept {
        events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(next_));
        next_ = 0;
    }

    std::function<void()> wake_;
    std::function<void()> apply_;
    std::vector<worker_event> events_; ///< the events before next_ are taken
    std::size_t next_ = 0;
    std::size_t workers_ = 0;
};

} // namespace skep
