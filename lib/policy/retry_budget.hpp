// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/self_healing.hpp>

#include <cstddef>

namespace skep {

/// Keeps retries from doubling an overload. A token bucket: each retry takes a token, and each success
/// returns a fraction of a token. Retries stop while the bucket is at most half full. Same as gRPC's retry
/// throttling (proposal A6).
class retry_budget {
public:
    explicit retry_budget(const retry_options& options) noexcept
        : most_(static_cast<double>(options.budget)), ratio_(options.budget_ratio), tokens_(most_) {}

    void succeeded() noexcept;

    /// Raises the budget to at least so many tokens, unless there is none.
    void provide(std::size_t tokens) noexcept;

    /// Takes a token for a lost call that might be retried. Returns true if the call may be retried: never
    /// with a budget of 1 or 2.
    bool spend() noexcept;

    double tokens() const noexcept { return tokens_; }

private:
    double most_; ///< 0: no budget, every retry is admitted
    double ratio_;
    double tokens_;
};

} // namespace skep
