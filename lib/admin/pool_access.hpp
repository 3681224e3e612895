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

/// Access of an admin_server to its pools, until forget(). Thread safety: callable from any thread.
class pool_access {
public:
    using listing = std::vector<pool*>;

    pool_access(std::function<listing()> list, event_bus& events) : list_(std::move(list)), events_(events) {}

    /// A coroutine of a pool that has not started, with the executor to run it.
    template <class T>
    struct task {
        boost::asio::any_io_executor where;
        boost::asio::awaitable<T> work;
    };

    /// Returns for each pool, in order, its name and a query of its metrics, without a query where
    /// `is_spared(name)`. Empty after forget().
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

    /// Calls `handler` with the pools' events of the types E, or of all types without E, on `executor`.
    /// Returns an empty subscription after forget().
    template <class... E>
    subscription listen(const boost::asio::any_io_executor& executor,
                        std::function<void(const event&)> handler) {
        const std::lock_guard lock(mutex_);
        if (is_gone_) {
            return {};
        }
        if constexpr (sizeof...(E) == 0) {
            return events_.listen(executor, std::move(handler));
        } else {
            return events_.listen<E...>(executor, std::move(handler));
        }
    }

    /// Returns the configuration of each pool, in order. Empty after forget().
    std::vector<pool_config> configurations() {
        const std::lock_guard lock(mutex_);
        std::vector<pool_config> found;
        for (const auto* const each : list()) {
            found.push_back(each->config());
        }
        return found;
    }

    /// Returns the coroutine `act(pool)` for the pool with the given name; std::nullopt if there is no such
    /// pool.
    template <class Action>
    std::optional<task<std::string>> act(const std::string& name, Action act) {
        const std::lock_guard lock(mutex_);
        for (auto* const each : list()) {
            if (each->name() == name) {
                return task<std::string>{each->get_executor(), act(*each)};
            }
        }
        return {};
    }

    /// Ends all accesses to the pools.
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
