// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <memory>
#include <utility>

namespace skep {

namespace asio = boost::asio;

struct tool_tie;

/// The executor of a tool: wraps another executor, and knows the call that the tool runs for. Awaited
/// coroutines inherit the executor, so that a call made by the tool is distinguishable from other calls.
class calling_executor {
public:
    calling_executor(asio::any_io_executor inner, std::shared_ptr<const tool_tie> tie) noexcept
        : inner_(std::move(inner)), tie_(std::move(tie)) {}

    /// Returns the tie of a tool's executor, and null for any other `executor`.
    static std::shared_ptr<const tool_tie> tie_of(const asio::any_io_executor& executor) noexcept {
        const auto* const mine = executor.target<calling_executor>();
        return mine == nullptr ? nullptr : mine->tie_;
    }

    template <class Property>
    requires asio::can_query_v<const asio::any_io_executor&, Property>
    decltype(auto) query(const Property& property) const { return asio::query(inner_, property); }

    template <class Property>
    requires asio::can_require_v<const asio::any_io_executor&, Property> calling_executor
    require(const Property& property)
    const { return {asio::require(inner_, property), tie_}; }

    template <class Property>
    requires asio::can_prefer_v<const asio::any_io_executor&, Property> calling_executor
    prefer(const Property& property)
    const { return {asio::prefer(inner_, property), tie_}; }

    template <class Function>
    void execute(Function&& function) const {
        inner_.execute(std::forward<Function>(function));
    }

    friend bool operator==(const calling_executor& left, const calling_executor& right) noexcept {
        return left.inner_ == right.inner_ && left.tie_ == right.tie_;
    }

private:
    asio::any_io_executor inner_;
    std::shared_ptr<const tool_tie> tie_;
};

} // namespace skep
