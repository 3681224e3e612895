// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "prometheus/pools_of.hpp"
#include <skep/event_bus.hpp>
#include <skep/observed_node.hpp>
#include <skep/pool.hpp>

#include <boost/json/object.hpp>

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace skep {

/// Access of an admin_server to its pools, until forget(). Thread safety: callable from any thread.
class pool_access {
public:
    using listing = std::vector<shown_pool>;

    /// `events`: with the events of pools that share no bus of their own.
    /// `node`: null if there is none.
    pool_access(std::function<listing()> list, event_bus& events, observed_node* node)
        : list_(std::move(list)), events_(events), node_(node) {}

    /// A coroutine of a pool that has not started, with the executor to run it.
    template <class T>
    struct task {
        boost::asio::any_io_executor where;
        boost::asio::awaitable<T> work;
    };

    /// A query of a pool's metrics; empty where `is_spared(name)`.
    struct question {
        std::string name;
        std::string place;
        std::optional<task<pool_metrics>> query;
    };

    /// Returns a question for each pool, in order. Empty after forget().
    std::vector<question> metrics(const std::function<bool(const std::string&)>& is_spared) {
        const std::lock_guard lock(mutex_);
        std::vector<question> asked;
        for (auto& each : list()) {
            auto& added = asked.emplace_back(question{each.name, each.place, {}});
            if (!is_spared(each.name)) {
                added.query.emplace(task<pool_metrics>{each.pool->get_executor(), each.pool->metrics()});
            }
        }
        return asked;
    }

    /// Returns a query of the node's status; empty without a node, and after forget().
    std::optional<task<node_status>> node() {
        const std::lock_guard lock(mutex_);
        return node_ == nullptr || is_gone_
                   ? std::nullopt
                   : std::optional(task<node_status>{node_->get_executor(), node_->status()});
    }

    /// Calls `handler` with the pools' events of the types E, or of all types without E, on `executor`.
    /// Returns a subscription for each bus. After forget(), returns none.
    template <class... E>
    std::vector<subscription> listen(const boost::asio::any_io_executor& executor,
                                     const std::function<void(const event&)>& handler) {
        const std::lock_guard lock(mutex_);
        std::vector<subscription> listening;
        for (auto* const each : buses()) {
            if constexpr (sizeof...(E) == 0) {
                listening.push_back(each->listen(executor, handler));
            } else {
                listening.push_back(each->template listen<E...>(executor, handler));
            }
        }
        return listening;
    }

    /// Returns the configurations by name. Empty after forget().
    boost::json::object configurations() {
        const std::lock_guard lock(mutex_);
        boost::json::object found;
        for (const auto& each : list()) {
            found[each.name] = each.pool->configuration();
        }
        return found;
    }

    /// Returns the coroutine `act(pool)` for the pool with the given name; std::nullopt if there is no such
    /// pool.
    template <class Action>
    std::optional<task<std::string>> act(const std::string& name, Action act) {
        const std::lock_guard lock(mutex_);
        for (const auto& each : list()) {
            if (each.name == name) {
                return task<std::string>{each.pool->get_executor(), act(*each.pool)};
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

    std::set<event_bus*> buses() const {
        std::set<event_bus*> all;
        for (const auto& each : list()) {
            all.insert(&each.pool->events());
        }
        if (!is_gone_) {
            all.insert(&events_);
        }
        return all;
    }

    std::function<listing()> list_;
    event_bus& events_;
    observed_node* node_;
    std::mutex mutex_;
    bool is_gone_ = false;
};

} // namespace skep
