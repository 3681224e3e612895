// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/self_healing.hpp>

namespace skep {

/// Keeps retries from doubling an overload: a bucket of tokens of which each retry takes one and each success gives
/// back a little; retries stop while it is no more than half full. As gRPC's retry throttling (proposal A6).
class retry_budget {
public:
    explicit retry_budget(const retry_options& options) noexcept
        : most_(static_cast<double>(options.budget)), ratio_(options.budget_ratio), tokens_(most_) {}

    void succeeded() noexcept;

    /// A call was lost that might be retried: takes a token. True if it may be. With a budget of 1 or 2 none is.
    bool spend() noexcept;

    double tokens() const noexcept { return tokens_; }

private:
    double most_; ///< 0: no budget, every retry is admitted
    double ratio_;
    double tokens_;
};

} // namespace skep
