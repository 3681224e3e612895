// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/event_bus.hpp>
#include <skep/pool.hpp>

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skep {

/// The pools that an admin_server shows, for as long as it may use them. From any thread.
class pool_access {
public:
    using listing = std::vector<pool*>;

    pool_access(std::function<listing()> list, event_bus& events) : list_(std::move(list)), events_(events) {}

    /// A coroutine of a pool that has not begun, and the executor that is to run it.
    template <class T>
    struct task {
        boost::asio::any_io_executor where;
        boost::asio::awaitable<T> work;
    };

    /// For each pool, in their order, its name and the question what it measures, but no question where `is_spared(name)`.
    /// Empty once they are gone.
    using questions = std::vector<std::pair<std::string, std::optional<task<pool_metrics>>>>;
    questions metrics(const std::function<bool(const std::string&)>& is_spared) {
        const std::lock_guard lock(mutex_);
        questions asked;
        for (auto* const each : list()) {
            asked.emplace_back(each->name(), std::nullopt);
            if (!is_spared(each->name())) {
                asked.back().second.emplace(task<pool_metrics>{each->get_executor(), each->metrics()});
            }
        }
        return asked;
    }

    /// Has all events of the pools told to `handler`, on `executor`. Returns an empty subscription once the pools are gone.
    subscription listen(const boost::asio::any_io_executor& executor,
                        std::function<void(const event&)> handler) {
        const std::lock_guard lock(mutex_);
        return is_gone_ ? subscription() : events_.listen(executor, std::move(handler));
    }

    /// `change(pool)`, a coroutine, of the one of that name; none if there is none.
    template <class Change>
    std::optional<task<void>> change(const std::string& wanted_change, Change change) {
        const std::lock_guard lock(mutex_);
        for (auto* const each : list()) {
            if (each->name() == wanted_change) {
                return task<void>{each->get_executor(), change(*each)};
            }
        }
        return {};
    }

    /// No pool is touched after this.
    void forget() noexcept {
        const std::lock_guard lock(mutex_);
        is_gone_ = true;
    }

private:
    listing list() const { return is_gone_ ? listing() : list_(); }

    std::function<listing()> list_;
    event_bus& events_;
    std::mutex mutex_;
    bool is_gone_ = false;
};

} // namespace skep
