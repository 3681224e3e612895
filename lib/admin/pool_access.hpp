// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

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
    /// Name and pool; the name is empty where there is just one pool.
    using listing = std::vector<std::pair<std::string, pool*>>;

    explicit pool_access(std::function<listing()> list) : list_(std::move(list)) {}

    /// What each measures, in their order; empty once they are gone.
    std::vector<boost::asio::awaitable<pool_metrics>> metrics() {
        const std::lock_guard lock(mutex_);
        std::vector<boost::asio::awaitable<pool_metrics>> asked;
        for (const auto& [name, each] : list()) {
            asked.push_back(each->metrics());
        }
        return asked;
    }

    /// `change(pool)`, a coroutine, of the one of that name; none if there is none.
    template <class Change>
    std::optional<boost::asio::awaitable<void>> change(const std::string& wanted, Change change) {
        const std::lock_guard lock(mutex_);
        for (const auto& [name, each] : list()) {
            if (name.empty() || name == wanted) {
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
    std::mutex mutex_;
    bool is_gone_ = false;
};

} // namespace skep
