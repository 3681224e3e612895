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

// What a worker tells of itself.

struct came_up {};

/// Whether it takes calls may have changed: it has taken what it was sent, or its health or suspension has.
struct room_changed {};

/// Something was wrong, and is being seen to.
struct went_wrong {
    departure_cause cause;
    recovery_action action;
    std::string detail;
};

/// It has answered as many calls as it is meant to.
struct used_up {};

struct condition_changed {
    enum class change {
        suspended,
        resumed,
        restored ///< it has passed its health check
    };
    change kind;
};

struct pings_missed {
    int count; ///< since the last time
    std::uint64_t total;
};

/// It takes no more calls, for whatever reason. Comes once.
struct left_service {};

/// Calls are lost with it; see worker_calls::take_lost.
struct calls_lost {};

/// Its process is gone and so is everything that belonged to it. The last one.
struct ended {};

struct worker_event {
    std::shared_ptr<worker> subject;
    std::variant<came_up, room_changed, went_wrong, used_up, condition_changed, pings_missed, left_service,
                 calls_lost, ended>
        fact;
};

/// What has happened and has not been acted upon yet. Workers append, in the middle of their own work; their pool takes
/// it all once they are through with that.
class event_queue {
public:
    /// `wake` has `apply` called soon, which takes the events and acts upon them. It may fail, since whoever does
    /// anything with the pool calls catch_up() first.
    event_queue(std::function<void()> wake, std::function<void()> apply)
        : wake_(std::move(wake)), apply_(std::move(apply)) {}

    /// A worker more: room is made for what it may have to tell, so that append() does not fail.
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

    /// Has acted upon all that has happened. Not to be called by a worker.
    void catch_up() {
        if (!empty()) {
            apply_();
        }
    }

    bool empty() const noexcept { return next_ == events_.size(); }

    /// Takes the oldest; nothing if there is none. Whoever acts upon one may append others, and take them.
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
    std::vector<worker_event> events_; ///< those before next_ are taken
    std::size_t next_ = 0;
    std::size_t workers_ = 0;
};

} // namespace skep
