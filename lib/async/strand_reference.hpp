// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <utility>

namespace skep {

/// Refers to a strand, and must not outlive it. Asio copies the executor of a read five times, and each time
/// asks for outstanding work; the coroutine that waits for the read holds enough of it.
class strand_reference {
public:
    explicit strand_reference(const strand& target) noexcept : target_(&target) {}

    asio::execution_context& query(asio::execution::context_t property) const noexcept {
        return asio::query(*target_, property);
    }

    /// For operations that complete at once.
    strand require(asio::execution::blocking_t::never_t property) const {
        return asio::require(*target_, property);
    }

    template <class Function>
    void execute(Function&& function) const {
        target_->execute(std::forward<Function>(function));
    }

    friend bool operator==(const strand_reference&, const strand_reference&) noexcept = default;

private:
    const strand* target_;
};

} // namespace skep
