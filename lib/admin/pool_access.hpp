// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/event_bus.hpp>
#include <skep/pool.hpp>

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace skep {

/// The pools that an admin_server shows, for as long as it may use them. From any thread.
class pool_access {
public:
    using listing = std::vector<pool*>;

    pool_access(std::function<listing()> list, event_bus& events) : list_(std::move(list)), events_(events) {}

    /// A question to a pool for what it measures, which has not been asked yet.
    using question = std::optional<boost::asio::awaitable<pool_metrics>>;

    /// One for each pool by its name, in their order, but none for those of `spared`; empty once they are gone.
    std::vector<std::pair<std::string, question>> metrics(const std::set<std::string>& spared) {
        const std::lock_guard lock(mutex_);
        std::vector<std::pair<std::string, question>> asked;
        for (auto* const each : list()) {
            asked.emplace_back(each->name(), question());
            if (!spared.contains(each->name())) {
                asked.back().second.emplace(each->metrics());
            }
        }
        return asked;
    }

    /// Has all events told to `handler`, on `where`; nobody's once they are gone.
    subscription listen(const boost::asio::any_io_executor& where,
                        std::function<void(const event&)> handler) {
        const std::lock_guard lock(mutex_);
        return is_gone_ ? subscription() : events_.listen(where, std::move(handler));
    }

    /// `change(pool)`, a coroutine, of the one of that name; none if there is none.
    template <class Change>
    std::optional<boost::asio::awaitable<void>> change(const std::string& wanted, Change change) {
        const std::lock_guard lock(mutex_);
        for (auto* const each : list()) {
            if (each->name() == wanted) {
                return change(*each);
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
