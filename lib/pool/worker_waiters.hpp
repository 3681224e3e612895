// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/waiter.hpp"
#include <skep/worker_id.hpp>

#include <algorithm>
#include <variant>
#include <vector>

namespace skep {

/// Callers that each wait until all of some workers have got where they are to go.
class worker_waiters {
public:
    using caller_ptr = std::shared_ptr<waiter<std::monostate>>;

    void add(std::vector<worker_id> which, caller_ptr caller) {
        entries_.push_back({std::move(which), std::move(caller)});
        complete_finished();
    }

    /// The worker is there.
    void done(const worker_id& which) {
        for (auto& each : entries_) {
            std::erase(each.left, which);
        }
        complete_finished();
    }

    /// It will not get there: ends the waits for it.
    void fail(const worker_id& which, const error& why) {
        end_if(why, [&](const entry& each) { return contains(each, which); });
    }

    void fail_all(const error& why) {
        end_if(why, [](const entry&) { return true; });
    }

    void forget() noexcept {
        for (const auto& each : entries_) {
            each.caller->forget();
        }
        entries_.clear();
    }

    bool is_awaited(const worker_id& which) const {
        return std::any_of(entries_.begin(), entries_.end(),
                           [&](const entry& each) { return contains(each, which); });
    }

private:
    struct entry {
        std::vector<worker_id> left;
        caller_ptr caller;
    };

    static bool contains(const entry& each, const worker_id& which) {
        return std::find(each.left.begin(), each.left.end(), which) != each.left.end();
    }

    void complete_finished() {
        end_if({}, [](const entry& each) { return each.left.empty(); });
    }

    template <class Condition>
    void end_if(const std::optional<error>& why, Condition ends) {
        const auto first =
            std::partition(entries_.begin(), entries_.end(), [&](const entry& each) { return !ends(each); });
        const std::vector<entry> ended(std::make_move_iterator(first),
                                       std::make_move_iterator(entries_.end()));
        entries_.erase(first, entries_.end());
        for (const auto& each : ended) {
            each.caller->complete(why, {});
        }
    }

    std::vector<entry> entries_;
};

} // namespace skep
