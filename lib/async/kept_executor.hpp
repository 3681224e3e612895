// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

namespace skep {

namespace asio = boost::asio;

/// Keeps an execution context alive, and at work, for its executors. True once the context has ended.
using context_keeper = std::shared_ptr<const std::atomic<bool>>;

/// The executor of an io_context that lives as long as its executors. After the end of the context, functions
/// are dropped: in the queue of the context they would keep the context alive.
/// `Io`: the executor of an io_context, with or without outstanding work.
template <class Io>
class kept_executor {
public:
    kept_executor(const Io& inner, context_keeper keeper) noexcept
        : keeper_(std::move(keeper)), inner_(inner) {}

    template <class Property>
    requires asio::can_query_v<const Io&, Property>
    decltype(auto) query(const Property& property) const noexcept { return asio::query(inner_, property); }

    template <class Property>
    requires asio::can_require_v<const Io&, Property>
    auto require(const Property& property) const {
        using io = std::decay_t<decltype(asio::require(inner_, property))>;
        return kept_executor<io>(asio::require(inner_, property), keeper_);
    }

    template <class Function>
    void execute(Function&& function) const {
        if (!keeper_->load(std::memory_order_relaxed)) {
            inner_.execute(std::forward<Function>(function));
        }
    }

    kept_executor(const kept_executor&) noexcept = default;
    kept_executor(kept_executor&&) noexcept = default;
    ~kept_executor() = default;

    /// The old context outlives the outstanding work that the old executor may hold.
    kept_executor& operator=(kept_executor other) noexcept {
        std::swap(inner_, other.inner_);
        keeper_.swap(other.keeper_);
        return *this;
    }

    friend bool operator==(const kept_executor& left, const kept_executor& right) noexcept {
        return left.inner_ == right.inner_;
    }

private:
    context_keeper keeper_; ///< first: outlives `inner_`
    Io inner_;
};

} // namespace skep
